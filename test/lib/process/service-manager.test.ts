import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachServiceManager } from '../../../src/lib/process/service-manager.ts';
import { notifySocket } from '../../support/fakes/notify-socket.ts';
import { keptLog } from '../../support/probe/log.ts';
import { until } from '../../support/probe/until.ts';

test('a service manager that has gone away is logged once, however often it would be notified', async () => {
  const notifyAt = `@askback-gone-${process.pid}`;
  const socket = notifySocket(notifyAt);
  const { lines, log } = keptLog({ debugged: true });
  const settings = { notifySocket: notifyAt, watchdogMs: null, watchdogPid: null };
  const manager = await reachServiceManager(settings, log);
  manager.ready('up');
  await socket.until('STATUS=up');

  socket.close();
  for (const count of [1, 2]) {
    manager.status('still up');
    await until('it has failed', () => lines.length >= count);
  }
  const words = 'the service manager could not be notified';
  const [refused, gone] = ['ECONNREFUSED: connection refused', 'ENOTCONN: socket is not connected'];
  const expected = [
    ['warn', words, { err: `${refused}, write` }],
    ['debug', words, { err: `${gone}, write` }],
  ];
  assert.deepEqual(lines, expected);
});

test('the watchdog is notified twice in its time, and only by the process that it watches', async (t) => {
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
