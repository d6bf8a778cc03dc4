import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteOldDeliveries } from '../../src/webhooks/history.queries.ts';
import { countDeliveries, makeBacklog } from '../support/make/deliveries.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** A webhook with as many deliveries of one status, all of the same age. */
async function history(events: number, { days, status }: { days: number; status: string }) {
  const target = await makeBacklog(db, events);
  await db`
    update deliveries
    set status = ${status}, created_at = now() - make_interval(days => ${days}),
        next_attempt_at = case when ${status} = 'pending' then now() end
    where webhook_id = ${target.webhook_id}`;
  return target;
}

async function deleteAllOld() {
  let steps = 1;
  while (await deleteOldDeliveries(db, { keep: 5, days: 30, atMost: 4 })) steps += 1;
  return steps;
}

test('old deliveries are deleted in steps, but for the newest of each webhook', async () => {
  const target = await history(15, { days: 31, status: 'delivered' });
  assert.equal(await deleteAllOld(), 3);
  assert.equal(await countDeliveries(db, target, 'delivered'), 5);
});

test('younger and pending deliveries stay', async () => {
  const young = await history(15, { days: 29, status: 'delivered' });
  const due = await history(15, { days: 31, status: 'pending' });
  await deleteAllOld();
  assert.equal(await countDeliveries(db, young, 'delivered'), 15);
  assert.equal(await countDeliveries(db, due, 'pending'), 15);
});
