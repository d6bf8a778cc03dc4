import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteOldDeliveries } from '../../src/webhooks/history.queries.ts';
import { countDeliveries, makeBacklog } from '../support/make/deliveries.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** A webhook with as many deliveries of one status, all of the same age. */
async function history(events: number, { days, status }: { days: number; status: string }) {
  const lane = await makeBacklog(db, events);
  await db`
    update deliveries
    set status = ${status}, created_at = now() - make_interval(days => ${days}),
        next_attempt_at = case when ${status} = 'pending' then now() end
    where webhook_id = ${lane.webhook_id}`;
  return lane;
}

async function forgetAll() {
  let steps = 1;
  while (await deleteOldDeliveries(db, { keep: 5, days: 30, atMost: 4 })) steps += 1;
  return steps;
}

test('of old deliveries the newest stay, the others go in steps', async () => {
  const lane = await history(15, { days: 31, status: 'delivered' });
  assert.equal(await forgetAll(), 3);
  assert.equal(await countDeliveries(db, lane, 'delivered'), 5);
});

test('younger deliveries and such as are still due stay', async () => {
  const young = await history(15, { days: 29, status: 'delivered' });
  const due = await history(15, { days: 31, status: 'pending' });
  await forgetAll();
  assert.equal(await countDeliveries(db, young, 'delivered'), 15);
  assert.equal(await countDeliveries(db, due, 'pending'), 15);
});
