import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Lane } from '../../src/webhooks/delivery.queries.ts';
import { replayMissed } from '../../src/webhooks/replay.ts';
import { subscriber } from '../support/fakes/subscriber.ts';
import { countDeliveries, lanesOf, makeBacklog, makePool } from '../support/make/deliveries.ts';
import { testDatabase } from '../support/probe/database.ts';
import { someoneWaits } from '../support/probe/locks.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();

/**
 * What each statement that changes deliveries comes to, also one that finds none to change. While a test
 * holds the lock, one that skips does not end.
 */
const lock = 77;
await db`create table steps (place bigint generated always as identity, changed integer)`;
await db`
  create function note_step() returns trigger language plpgsql as $$
  begin
    perform pg_advisory_xact_lock_shared(77) from changed where status = 'skipped' limit 1;
    insert into steps (changed) select count(*) from changed;
    return null;
  end $$`;
await db`
  create trigger note_step after update on deliveries
  referencing new table as changed for each statement execute function note_step()`;
beforeEach(async () => {
  await db`truncate steps`;
});

const steps = async () =>
  (await db<{ changed: number }[]>`select changed from steps order by place`).map(
    ({ changed }) => changed,
  );

const switchTo = (active: boolean, { webhook_id }: Lane) =>
  db`update webhooks set active = ${active} where id = ${webhook_id}`;

async function run(lane: Lane) {
  const { posts, outbound } = subscriber(200);
  const lanes = lanesOf(db, outbound, await makePool(db));
  await lanes.wake(lane);
  await lanes.stop();
  return posts;
}

test('the backlog of a webhook that is switched off is skipped a thousand at a time, all of it', async () => {
  const lane = await makeBacklog(db, 2500);
  await switchTo(false, lane);

  assert.equal((await run(lane)).length, 0);

  const changes = (await steps()).filter((changed) => changed > 0);
  assert.deepEqual(changes, [1000, 1000, 500]);
  assert.equal(await countDeliveries(db, lane, 'skipped'), 2500);
  await switchTo(true, lane);
  const which = { webhookId: lane.webhook_id, since: new Date(0) };
  const { replayed } = await replayMissed({ db, pump: () => {} }, lane.org_id, which);
  assert.equal(replayed, 2500);
});

test('while one backlog is skipped another webhook is served', async () => {
  const [off, live] = [await makeBacklog(db, 1500), await makeBacklog(db, 20)];
  await switchTo(false, off);
  const { posts, outbound } = subscriber(200);
  const lanes = lanesOf(db, outbound, await makePool(db));
  let skipping = Promise.resolve();
  await db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${lock})`;
    skipping = lanes.wake(off);
    await someoneWaits(db);

    await lanes.wake(live);
    await until('all arrived', () => posts.length === 20);
  });
  await skipping;
  await lanes.stop();
  assert.equal(await countDeliveries(db, off, 'skipped'), 1500);
});

test('a lane that has found all there is does not look again for each that ends', async () => {
  const lane = await makeBacklog(db, 3);
  assert.equal((await run(lane)).length, 3);
  const looksInVain = (await steps()).filter((changed) => changed === 0);
  assert.deepEqual(looksInVain, []);
});
