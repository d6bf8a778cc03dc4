import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { WebhookRef } from '../../src/webhooks/delivery.queries.ts';
import { replay } from '../../src/webhooks/replay.ts';
import { subscriber } from '../support/fakes/subscriber.ts';
import { countDeliveries, makeBacklog, makePool, workerOf } from '../support/make/deliveries.ts';
import { writeKeyOf } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();

/**
 * Records the row count of each statement that changes deliveries, also 0. While a test holds the lock, skipping waits.
 */
const lock = 77;
await db`create table steps (place bigint generated always as identity, changed integer)`;
await db`
  create function note_step() returns trigger language plpgsql as $$
  begin
    if tg_table_name = 'ended_deliveries' then
      if not exists (select from changed) then return null; end if;
      perform pg_advisory_xact_lock_shared(77) from changed where undelivered = 'skipped' limit 1;
    end if;
    insert into steps (changed) select count(*) from changed;
    return null;
  end $$`;
await db`
  create trigger note_step after update on pending_deliveries
  referencing new table as changed for each statement execute function note_step()`;
await db`
  create trigger note_step after insert on ended_deliveries
  referencing new table as changed for each statement execute function note_step()`;
beforeEach(async () => {
  await db`truncate steps`;
});

const steps = async () =>
  (await db<{ changed: number }[]>`select changed from steps order by place`).map(
    ({ changed }) => changed,
  );

const switchTo = (active: boolean, { webhook_id }: WebhookRef) =>
  db`update webhooks set active = ${active} where id = ${webhook_id}`;

async function run(target: WebhookRef) {
  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, await makePool(db));
  await worker.wake(target);
  await worker.stop();
  return posts;
}

test('the backlog of an inactive webhook is skipped in steps', async () => {
  const target = await makeBacklog(db, 2500);
  await switchTo(false, target);

  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, await makePool(db));
  await worker.wake(target);
  await until('all is skipped', async () => (await steps()).includes(500));
  await worker.stop();

  assert.equal(posts.length, 0);
  const changes = (await steps()).filter((changed) => changed > 0);
  assert.deepEqual(changes, [1000, 1000, 500]);
  assert.equal(await countDeliveries(db, target, 'skipped'), 2500);
  await switchTo(true, target);
  const which = { webhookId: target.webhook_id, since: new Date(0) };
  const { replayed } = await replay({ db }, writeKeyOf(target.org_id), which);
  assert.equal(replayed, 2500);
});

test('other webhooks are served while a backlog is skipped', async () => {
  const [off, live] = [await makeBacklog(db, 1500), await makeBacklog(db, 20)];
  await switchTo(false, off);
  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, await makePool(db));
  let skipping = Promise.resolve();
  await db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${lock})`;
    skipping = worker.wake(off);
    await untilLockWaits(db);

    await worker.wake(live);
    await until('all arrived', () => posts.length === 20);
  });
  await skipping;
  await until('all is skipped', async () => {
    return (await countDeliveries(db, off, 'skipped')) === 1500;
  });
  await worker.stop();
});

test('a queue without due deliveries does not claim per attempt', async () => {
  const target = await makeBacklog(db, 3);
  assert.equal((await run(target)).length, 3);
  const looksInVain = (await steps()).filter((changed) => changed === 0);
  assert.deepEqual(looksInVain, []);
});
