import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from '../../src/suppressions/report.ts';
import { leastCost, readerOfThisThread } from '../support/probe/processor-time.ts';
import { hostileReports } from './report-forms.ts';

/** The worker thread parses forty messages within its time limit on a busy machine. */
const mostMs = 100;
const size = 1024 * 1024;

const costOf = (message: Uint8Array) =>
  leastCost(mostMs, async () => {
    const timer = readerOfThisThread();
    await readReport(message);
    return timer.ms();
  });

for (const [name, text] of Object.entries(hostileReports(size))) {
  test(`1 MiB of ${name} is parsed within ${mostMs} ms`, async () => {
    const ms = await costOf(Buffer.from(text).subarray(0, size));
    assert.ok(ms < mostMs, `${ms} ms`);
  });
}
