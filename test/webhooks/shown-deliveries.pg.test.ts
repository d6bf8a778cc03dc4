import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTransaction, type Sql } from '../../src/lib/db/db.ts';
import {
  countByDay,
  countDelivered,
  listAttempts,
  pageOfDeliveries,
} from '../../src/webhooks/shown-deliveries.queries.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { clockedDatabase } from '../support/probe/clocked-database.ts';

const now = new Date();
const { db } = await clockedDatabase(now);

async function target() {
  const org_id = await makeOrganization(db);
  const webhook_id = await makeWebhook(db, org_id);
  return { of: { org_id, webhook_id }, asked: { orgId: org_id, webhookId: webhook_id } };
}
type Target = Awaited<ReturnType<typeof target>>;

/** Without indexes, which could provide the order by chance. */
const withoutOrder = <T>(read: (sql: Sql) => Promise<T>) =>
  inTransaction(db, async (tx) => {
    await tx`set local enable_indexscan = off`;
    await tx`set local enable_indexonlyscan = off`;
    return await read(tx);
  });

const minutesAgo = (n: number) => new Date(Date.now() - n * 60_000);

/** Each is a minute older than the previous one. */
const kinds = [
  { status: 'failed', attempts: 2 },
  { status: 'pending', attempts: 0 },
  { status: 'delivered', attempts: 1, duration_ms: 40 },
  { status: 'pending', attempts: 1 },
  { status: 'skipped', attempts: 0 },
  { status: 'pending', attempts: 0 },
  { status: 'delivered', attempts: 2, duration_ms: 50 },
  { status: 'pending', attempts: 2 },
  { status: 'pending', attempts: 1 },
];

async function addAll({ of }: Target) {
  const rows = kinds.map((kind, n) => ({ ...of, ...kind, created_at: minutesAgo(n) }));
  const ids = await addDeliveries(db, ...rows.toReversed());
  return ids.toReversed();
}

const statuses = [null, 'pending', 'delivered', 'failed', 'skipped'];
for (const [status, limit] of statuses.flatMap((each) => [
  [each, 1] as const,
  [each, 2] as const,
])) {
  test(`pages of ${limit} list ${status ?? 'all'} deliveries, newest first`, async () => {
    const [own, other] = [await target(), await target()];
    const ids = await addAll(own);
    await addAll(other);
    await addAll({ ...other, of: { ...own.of, webhook_id: await makeWebhook(db, own.of.org_id) } });
    const wanted = ids.filter((_, n) => status === null || kinds[n]!.status === status);
    const found: string[] = [];
    for (let page = 1; found.length < wanted.length; page++) {
      const asked = { page, limit, status };
      const { rows, total } = await withoutOrder((sql) => pageOfDeliveries(sql, own.asked, asked));
      assert.equal(total, wanted.length);
      assert.equal(rows.length, Math.min(limit, wanted.length - found.length));
      found.push(...rows.map(({ id }) => id));
    }
    assert.deepEqual(found, wanted);
  });
}

test('a delivery has the duration of its last attempt', async () => {
  const own = await target();
  const [failed, , delivered] = await addAll(own);
  await db`insert into delivery_attempts ${db(
    [2, 1, 3].map((number) => ({
      ...own.of,
      delivery_id: failed!,
      number,
      duration_ms: number * 10,
      at: new Date(),
    })),
  )}`;
  const { rows } = await pageOfDeliveries(db, own.asked, { page: 1, limit: 9, status: null });
  const took = new Map(rows.map(({ id, duration_ms }) => [id, duration_ms]));
  assert.deepEqual([took.get(failed!), took.get(delivered!)], [30, 40]);
  const attempts = await withoutOrder((sql) => listAttempts(sql, own.asked, failed!));
  assert.deepEqual(
    attempts.map(({ number }) => number),
    [1, 2, 3],
  );
});

const midnight = new Date(now.toISOString().slice(0, 10));
const at = (days: number, ms = 0) => new Date(midnight.getTime() - days * 86_400_000 + ms);
const ended = ({ of }: Target, status: string, created_at: Date, event = 'response.received') => ({
  ...of,
  status,
  created_at,
  event,
  attempts: 1,
});

test('the chart counts outcomes per day without tests', async () => {
  const own = await target();
  await addDeliveries(
    db,
    ended(own, 'delivered', at(2)),
    ended(own, 'failed', at(2, 5)),
    ended(own, 'delivered', at(2, -1)),
    ended(own, 'skipped', at(1, 1)),
    ended(own, 'delivered', at(0)),
    ended(own, 'delivered', at(0), 'webhook.test'),
    { ...ended(own, 'pending', at(0)), attempts: 0 },
  );
  await addAll(await target());
  const days = await countByDay(db, own.asked, 3);
  assert.deepEqual(
    days.map((day) => ({ ...day })),
    [
      { day: at(2).toISOString().slice(0, 10), delivered: 1, failed: 1, skipped: 0 },
      { day: at(1).toISOString().slice(0, 10), delivered: 0, failed: 0, skipped: 1 },
      { day: at(0).toISOString().slice(0, 10), delivered: 1, failed: 0, skipped: 0 },
    ],
  );
});

test('the list has the delivered share of every webhook with events', async () => {
  const own = await target();
  await makeWebhook(db, own.of.org_id);
  await addDeliveries(
    db,
    ended(own, 'delivered', at(5)),
    ended(own, 'skipped', at(3)),
    ended(own, 'failed', at(3, 5)),
    ended(own, 'delivered', at(1)),
    ended(own, 'failed', at(0), 'webhook.test'),
  );
  await addAll(await target());
  const shares = await countDelivered(db, own.of.org_id, 4);
  assert.deepEqual(
    shares.map((share) => ({ ...share })),
    [{ webhook_id: own.of.webhook_id, delivered: 1, total: 3 }],
  );
});
