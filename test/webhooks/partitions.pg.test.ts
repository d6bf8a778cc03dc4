import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPartitions } from '../../src/lib/db/partition-changes.ts';
import { type PartitionedTable, stretchAt } from '../../src/lib/db/partition-stretches.ts';
import { keepPartitions } from '../../src/lib/db/partitions.ts';
import { cleanUpDeliveries } from '../../src/webhooks/cleanup.ts';
import { listDeliveries } from '../../src/webhooks/history.queries.ts';
import { attemptsByTime, endedDeliveriesByTime } from '../../src/webhooks/partitions.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

/** A database with the partitions of so many days ago, and a webhook. */
async function scene(days: number) {
  const { db } = await testDatabase();
  const org_id = await makeOrganization(db);
  const of = { org_id, webhook_id: await makeWebhook(db, org_id) };
  for (const divided of [endedDeliveriesByTime, attemptsByTime]) {
    await keepPartitions(db, divided, { now: daysAgo(days) });
  }
  /** The first one is the newest. */
  const add = async (count: number, age: number, status = 'delivered') => {
    const rows = Array.from({ length: count }, (_, n) => daysAgo(age + n / 10_000));
    return await addDeliveries(
      db,
      ...rows.map((created_at) => ({ ...of, status, created_at, attempts: 1 })),
    );
  };
  const attempt = async (delivery_id: string) =>
    await db`insert into delivery_attempts ${db({ ...of, delivery_id, number: 1, duration_ms: 1 })}`;
  return { db, of, add, attempt };
}

const gone = async (db: Parameters<typeof listPartitions>[0], divided: PartitionedTable) =>
  !(await listPartitions(db, divided)).some(
    ({ name }) => name === stretchAt(divided, daysAgo(60)).name,
  );

test('a partition of deliveries goes with its attempts, but for the newest fifty of each webhook', async () => {
  const { db, of, add, attempt } = await scene(60);
  const young = await add(20, 1);
  const old = await add(40, 60);
  for (const id of [old[29]!, old[30]!]) await attempt(id);

  await cleanUpDeliveries(taskTools(db));

  assert.deepEqual(
    [await gone(db, endedDeliveriesByTime), await gone(db, attemptsByTime)],
    [true, true],
  );
  const kept = [...young, ...old.slice(0, 30)];
  const left = JSON.parse(
    await listDeliveries(
      db,
      { orgId: of.org_id, webhookId: of.webhook_id },
      { atMost: 60, traceUrl: null },
    ),
  ) as { id: string; event: string }[];
  assert.deepEqual(
    left.map(({ id }) => id),
    kept,
  );
  assert.ok(left.every(({ event }) => event === 'response.received'));
  const attempts = await db<{ id: string }[]>`select delivery_id as id from delivery_attempts`;
  assert.deepEqual(
    attempts.map(({ id }) => id),
    [old[29]],
  );
  const [events] = await db`select count(*)::int as count from events`;
  assert.equal(events?.['count'], kept.length);
});

test('deliveries and events of a partition that is not over stay, although some are older than thirty days', async () => {
  const { db, of, add } = await scene(31);
  const { from } = stretchAt(endedDeliveriesByTime, daysAgo(31));
  await add(60, 1);
  const [oldest] = await addDeliveries(db, {
    ...of,
    status: 'delivered',
    created_at: daysAgo(31),
    attempts: 1,
  });
  await cleanUpDeliveries(taskTools(db));
  const found = await db`select from deliveries where id = ${oldest!} and body is not null`;
  const isOver = from.getTime() + 10 * 86_400_000 <= daysAgo(30).getTime();
  assert.equal(found.length, isOver ? 0 : 1);
});

test('attempts at a pending delivery stay, however old it is', async () => {
  const { db, add, attempt } = await scene(60);
  const [pending] = await add(1, 60, 'pending');
  await attempt(pending!);
  await cleanUpDeliveries(taskTools(db));
  assert.ok(await gone(db, attemptsByTime));
  assert.equal((await db`select from delivery_attempts`).length, 1);
});

test('attempts stay while the partition of their deliveries cannot be dropped', async () => {
  const { db, add, attempt } = await scene(60);
  const old = await add(60, 60);
  await attempt(old[0]!);
  await db.begin(async (reader) => {
    await reader`select from ended_deliveries limit 1`;
    await cleanUpDeliveries(taskTools(db));
  });
  assert.deepEqual(
    [await gone(db, endedDeliveriesByTime), await gone(db, attemptsByTime)],
    [false, false],
  );
  await cleanUpDeliveries(taskTools(db));
  assert.ok(await gone(db, attemptsByTime));
});
