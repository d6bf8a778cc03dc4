import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import type { Db } from '../../src/lib/db/db.ts';
import { createSendProgress } from '../../src/sends/send.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';

const { db } = await testDatabase();
const { lines, log } = keptLog();
const [here, there] = [
  await createSendProgress({ db, log }),
  await createSendProgress({ db, log }),
];
after(() => Promise.all([here.stop(), there.stop()]));

/** True if the request is woken by a notification and not by the end of its patience. */
async function isWoken(
  progress: typeof here,
  notify: (id: string) => Promise<void>,
  patienceMs = 60_000,
) {
  const requestId = randomUUID();
  const watch = progress.watch(requestId);
  const next = watch.next(patienceMs);
  await notify(requestId);
  const message = await next;
  watch.end();
  return message !== undefined;
}

test('request is woken by jobs of any process', async () => {
  assert.ok(await isWoken(here, (id) => here.report(id)));
  assert.ok(await isWoken(here, (id) => there.report(id)));
});

test('request is not woken by mails of another request', async () => {
  assert.ok(!(await isWoken(here, () => here.report(randomUUID()), 1000)));
});

test('request sees mails that finished before it waits', async () => {
  const requestId = randomUUID();
  const watch = here.watch(requestId);
  await here.report(requestId);
  const later = new Promise((resolve) => setImmediate(resolve, 'later'));
  const next = watch.next(60_000).then(() => 'at once');
  assert.equal(await Promise.race([next, later]), 'at once');
});

test('process without LISTEN logs it and wakes its own requests', async () => {
  const listen = () => Promise.reject(new Error('no session'));
  const deaf = await createSendProgress({ db, log, listenOn: { listen } as unknown as Db });
  assert.ok(await isWoken(deaf, (id) => deaf.report(id)));
  await deaf.stop();
  assert.equal(lines.length, 1);
});
