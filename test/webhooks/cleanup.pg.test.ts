import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteOldDeliveries, deleteOldEvents } from '../../src/webhooks/retention.ts';
import { countDeliveries } from '../support/make/deliveries.ts';
import { addDeliveries, idAt } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function history(events: number, { days, status }: { days: number; status: string }) {
  const org_id = await makeOrganization(db);
  const target = { org_id, webhook_id: await makeWebhook(db, org_id) };
  const created_at = new Date(Date.now() - days * 24 * 3600 * 1000);
  const each = { ...target, status, created_at };
  await addDeliveries(db, ...Array.from({ length: events }, () => each));
  return target;
}

const old = { days: 31, status: 'delivered' };
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

async function deleteAllOld() {
  let steps = 1;
  while ((await deleteOldDeliveries(db, { keep: 5, days: 30, atMost: 4 })) === 4) steps += 1;
  return steps;
}

test('keeps recent and pending deliveries', async () => {
  const young = await history(15, { days: 29, status: 'delivered' });
  const due = await history(15, { days: 31, status: 'pending' });
  await deleteAllOld();
  assert.equal(await countDeliveries(db, young, 'delivered'), 15);
  assert.equal(await countDeliveries(db, due, 'pending'), 15);
});

test('keeps an old event only while a delivery of it exists', async () => {
  const kept = await history(3, { days: 31, status: 'delivered' });
  const due = await history(3, { days: 31, status: 'pending' });
  const young = await history(3, { days: 29, status: 'delivered' });
  const left = async (orgId: string) => {
    while ((await deleteOldEvents(db, orgId, { days: 30, atMost: 2 })) === 2);
    return (await db`select from events where org_id = ${orgId}`).length;
  };
  for (const { org_id } of [kept, due, young]) assert.equal(await left(org_id), 3);
  for (const { org_id } of [kept, due, young]) {
    await db`delete from ended_deliveries where org_id = ${org_id}`;
    await db`delete from pending_deliveries where org_id = ${org_id}`;
  }
  assert.deepEqual([await left(kept.org_id), await left(due.org_id)], [0, 0]);
  assert.equal(await left(young.org_id), 3);
});

/** Webhooks with deliveries by age in days. Deliveries at the same position have equal ids. */
async function sameIds(...ages: readonly number[][]) {
  const org_id = await makeOrganization(db);
  const ids = [40, 39, 38, 37, 2, 1].map((days) => ({ days, id: idAt(daysAgo(days)) }));
  const webhooks: string[] = [];
  for (const own of ages) {
    const of = { org_id, webhook_id: await makeWebhook(db, org_id) };
    webhooks.push(of.webhook_id);
    for (const { id } of ids.filter(({ days }) => own.includes(days))) {
      await addDeliveries(db, { ...of, id, status: 'failed' });
      await db`insert into delivery_attempts ${db({ ...of, delivery_id: id, number: 1, duration_ms: 1 })}`;
    }
  }
  const daysOf = async (table: string, column: string) =>
    await Promise.all(
      webhooks.map(async (webhook_id) => {
        const rows = await db<{ id: string }[]>`
          select ${db(column)} as id from ${db(table)} where webhook_id = ${webhook_id} order by 1`;
        return rows.map(({ id }) => ids.find((each) => each.id === id)!.days);
      }),
    );
  return { daysOf };
}

test('keeps the newest deliveries of each webhook with attempts', async () => {
  const { daysOf } = await sameIds([40, 39, 38, 37], [40, 38, 2, 1], [40, 39], [39, 2]);
  while ((await deleteOldDeliveries(db, { keep: 2, days: 30, atMost: 2 })) === 2);
  const left = [
    [38, 37],
    [2, 1],
    [40, 39],
    [39, 2],
  ];
  assert.deepEqual(await daysOf('ended_deliveries', 'id'), left);
  assert.deepEqual(await daysOf('delivery_attempts', 'delivery_id'), left);
});

test('deletes an old event even if another organization has the same id', async () => {
  const [mine, theirs] = [await history(1, old), await history(1, old)];
  const [event] = await db`select id from events where org_id = ${mine.org_id}`;
  await db`update ended_deliveries set event_id = ${event!['id']} where org_id = ${theirs.org_id}`;
  await addDeliveries(db, { ...theirs, id: event!['id'], created_at: daysAgo(31) });
  await db`delete from ended_deliveries where org_id = ${mine.org_id}`;
  await deleteOldEvents(db, mine.org_id, { days: 30, atMost: 2 });
  assert.equal((await db`select from events where org_id = ${mine.org_id}`).length, 0);
});
