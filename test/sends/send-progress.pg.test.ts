import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import type { Db } from '../../src/lib/db/db.ts';
import { createSendProgress } from '../../src/sends/send.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
const { lines, log } = keptLog();
const [here, there] = [
  await createSendProgress({ db, log }),
  await createSendProgress({ db, log }),
];
after(() => Promise.all([here.stop(), there.stop()]));

test('a request counts the mails that another process has finished', async () => {
  const requestId = randomUUID();
  const watch = here.watch(requestId);
  await there.notify([requestId, requestId, requestId]);
  await until('all three are counted', () => watch.finishedCount() === 3);
  watch.end();
});

test('a request waits for its own mails until enough of them are finished', async () => {
  const [mine, other] = [randomUUID(), randomUUID()];
  const [watch, otherWatch] = [here.watch(mine), here.watch(other)];
  let enough = false;
  const waited = watch.waitForCount(2, 60_000).then(() => {
    enough = true;
  });
  await here.notify([mine, other, other]);
  await otherWatch.waitForCount(2, 60_000);
  assert.deepEqual([watch.finishedCount(), enough], [1, false]);
  await here.notify([mine]);
  const later = new Promise((resolve) => setImmediate(resolve));
  await Promise.race([waited, later]);
  assert.ok(enough, 'the last of them ends the wait');
  assert.equal(watch.finishedCount(), 2);
});

test('a mail that finished before the wait counts', async () => {
  const requestId = randomUUID();
  const watch = here.watch(requestId);
  await here.notify([requestId]);
  const done = watch.waitForCount(1, 60_000).then(() => 'at once');
  const later = new Promise((resolve) => setImmediate(resolve, 'later'));
  assert.equal(await Promise.race([done, later]), 'at once');
});

test('a request looks again after a second, or when its time is over if that is sooner', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const [remainingMs, looksAfterMs] of [
    [60_000, 1000],
    [400, 400],
  ] as const) {
    const watch = here.watch(randomUUID());
    let looked = false;
    const waited = watch.waitForCount(1, remainingMs).then(() => {
      looked = true;
    });
    t.mock.timers.tick(looksAfterMs - 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(looked, false);
    t.mock.timers.tick(1);
    await waited;
    watch.end();
  }
});

test('a request without notifications rechecks after a second, and at once when its time is over', async () => {
  const watch = here.watch(randomUUID());
  await watch.waitForCount(1, 60_000);
  await watch.waitForCount(1, 0);
  assert.equal(watch.finishedCount(), 0);
});

test('a process that receives no notifications says so once at its start, and counts its own mails', async () => {
  assert.deepEqual(lines, []);
  const listen = () => Promise.reject(new Error('no session'));
  const deaf = await createSendProgress({ db, log, listenOn: { listen } as unknown as Db });
  const requestId = randomUUID();
  const watch = deaf.watch(requestId);
  await deaf.notify([requestId]);
  await watch.waitForCount(1, 60_000);
  await deaf.stop();
  const words = 'waiting requests look for themselves: no notifications';
  assert.deepEqual(lines.splice(0), [['warn', words, { err: 'no session' }]]);
});
