import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachServiceManager } from '../../../src/lib/process/service-manager.ts';
import { notifySocket } from '../../support/fakes/notify-socket.ts';
import { keptLog } from '../../support/probe/log.ts';
import { until } from '../../support/probe/until.ts';

test('a service manager that has gone away is logged once, however often it would be notified', async () => {
  const notifyAt = `@askback-gone-${process.pid}`;
  const socket = notifySocket(notifyAt);
  const { lines, log } = keptLog();
  let quietly = 0;
  log.debug = () => quietly++;
  const settings = { notifySocket: notifyAt, watchdogMs: null, watchdogPid: null };
  const manager = await reachServiceManager(settings, log);
  manager.ready('up');
  await socket.until('STATUS=up');

  socket.close();
  for (const status of ['still up', 'up and alone']) manager.status(status);
  await until('both have failed', () => quietly + lines.length >= 2);
  const err = 'ECONNREFUSED: connection refused, write';
  assert.deepEqual(lines, [['warn', 'the service manager could not be notified', { err }]]);
});
