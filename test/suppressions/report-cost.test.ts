import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from '../../src/suppressions/report.ts';
import { hostileReports } from './report-forms.ts';

/** Of the thread that reads texts: enough for forty messages in its time limit, on a machine that is busy. */
const mostMs = 100;
const size = 1024 * 1024;

/** Processor time of this thread for one message, the best of three: others may slow one down. */
async function costOf(message: Uint8Array): Promise<number> {
  const costs: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const before = process.threadCpuUsage();
    await readReport(message);
    const { user, system } = process.threadCpuUsage(before);
    costs.push((user + system) / 1000);
  }
  return Math.min(...costs);
}

for (const [name, text] of Object.entries(hostileReports(size))) {
  test(`a message of 1 MiB that repeats ${name} costs at most ${mostMs} ms`, async () => {
    const ms = await costOf(Buffer.from(text).subarray(0, size));
    assert.ok(ms <= mostMs, `${ms} ms`);
  });
}
