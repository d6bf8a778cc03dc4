import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachServiceManager } from '../../../src/lib/process/service-manager.ts';
import { keptLog } from '../../support/probe/log.ts';

test('the watched process notifies the watchdog twice per interval', async (t) => {
  const every: unknown[] = [];
  t.mock.method(globalThis, 'setInterval', (_: () => void, ms: number) => {
    every.push(ms);
    return { unref() {} };
  });
  const { log } = keptLog();
  for (const [watchdogMs, watchdogPid] of [
    [30_000, null],
    [5000, process.pid],
    [30_000, process.pid + 1],
    [null, process.pid],
  ] as const) {
    await reachServiceManager({ notifySocket: null, watchdogMs, watchdogPid }, log);
  }
  assert.deepEqual(every, [15_000, 2500]);
});
