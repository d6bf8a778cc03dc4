import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import {
  claimDue,
  hasWebhookDue,
  listWebhooksDue,
  skipWaiting,
  type WebhookRef,
} from '../../src/webhooks/delivery.queries.ts';
import { makePool } from '../support/make/deliveries.ts';
import { addDeliveries, idAt } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/** Expected claims, written by hand. Each row has a twin that no claim may touch. */
const { db } = await testDatabase();
const [own, other] = [await makePool(db), await makePool(db)];
const madeFrom = Date.UTC(2026, 0, 1);

/** In order of creation: attempts, seconds until due, and the process that claimed the row. */
const rows = [
  { name: 'first', attempts: 0, dueIn: -1, claimed_by: null },
  { name: 'of a dead process', attempts: 0, dueIn: -5, claimed_by: 'pool-dead' },
  { name: 'of another process', attempts: 0, dueIn: -60, claimed_by: other },
  { name: 'retried by another process', attempts: 1, dueIn: -60, claimed_by: other },
  { name: 'later', attempts: 0, dueIn: 600, claimed_by: null },
  { name: 'retried later', attempts: 1, dueIn: 600, claimed_by: null },
  { name: 'known', attempts: 0, dueIn: -60, claimed_by: own },
  { name: 'its answer was lost', attempts: 0, dueIn: -3, claimed_by: own },
  { name: 'replayed', attempts: 0, dueIn: -2, claimed_by: null, is_replay: true },
  { name: 'second retry', attempts: 1, dueIn: -10, claimed_by: null },
  { name: 'first retry', attempts: 4, dueIn: -20, claimed_by: 'pool-dead' },
  { name: 'replay that failed', attempts: 2, dueIn: -9, claimed_by: null, is_replay: true },
].map((row, at) => ({
  is_replay: false,
  id: idAt(new Date(madeFrom + 1000 * at)),
  ...row,
  message_id: row.is_replay ? idAt(new Date(0)) : null,
  status_code: 500 + at,
  response_body: `answer ${at}`,
  traceparent: at % 2 ? `trace ${at}` : null,
  body: `{"row":${at}}`,
  created_at: new Date(madeFrom + 1000 * at),
}));
const idOf = (wanted: string) => rows.find(({ name }) => name === wanted)!.id;
const claim = { by: own, known: [idOf('known')] };

const takenInOrder = [
  'first retry',
  'second retry',
  'replay that failed',
  'first',
  'of a dead process',
  'its answer was lost',
  'replayed',
];

async function makeTarget(over: Record<string, unknown> = {}): Promise<WebhookRef> {
  const org_id = await makeOrganization(db);
  const webhook_id = await makeWebhook(db, org_id, over);
  const now = Date.now();
  const deliveries = rows.map(({ name, dueIn, ...row }) => ({
    ...row,
    org_id,
    webhook_id,
    next_attempt_at: new Date(now + 1000 * dueIn),
  }));
  await addDeliveries(db, ...deliveries);
  await db`update events set traceparent = 'trace of the event' where org_id = ${org_id}`;
  return { org_id, webhook_id };
}

const undone = async (work: (tx: Sql) => Promise<void>) => {
  const undo = new Error('undone');
  await assert.rejects(
    db.begin(async (tx) => {
      await work(tx);
      throw undo;
    }),
    undo,
  );
};

const pendingOf = (sql: Sql, { org_id }: WebhookRef) =>
  sql`select * from pending_deliveries where org_id = ${org_id} order by id`;

test('a claim takes due retries first, then the oldest deliveries', async () => {
  const [target, twin] = [await makeTarget(), await makeTarget()];
  const untouched = await pendingOf(db, twin);
  for (const atMost of takenInOrder.keys()) {
    await undone(async (tx) => {
      const taken = await claimDue(tx, target, { ...claim, atMost: atMost + 1 });
      const names = taken.map(({ id }) => rows.find((row) => row.id === id)!.name);
      assert.deepEqual(names.toSorted(), takenInOrder.slice(0, atMost + 1).toSorted());
      const claimed = await tx<{ id: string }[]>`
        select id from pending_deliveries where org_id = ${target.org_id} and claimed_by = ${own}`;
      const wanted = [...taken.map(({ id }) => id), idOf('known'), idOf('its answer was lost')];
      assert.deepEqual(claimed.map(({ id }) => id).toSorted(), [...new Set(wanted)].toSorted());
      assert.deepEqual(await pendingOf(tx, twin), untouched);
    });
  }
});

test('a claimed delivery has all fields of its attempt', async () => {
  const updated_at = new Date('2026-03-01T12:00:00Z');
  const target = await makeTarget({ updated_at });
  await undone(async (tx) => {
    const taken = await claimDue(tx, target, { ...claim, atMost: 100 });
    assert.equal(taken.length, takenInOrder.length);
    for (const delivery of taken) {
      const { id, message_id, attempts, body, traceparent, created_at } = rows.find(
        (row) => row.id === delivery.id,
      )!;
      assert.deepEqual(delivery, {
        id,
        ...target,
        message_id: message_id ?? id,
        attempts,
        body,
        created_at,
        event: 'response.received',
        traceparent: traceparent ?? 'trace of the event',
        webhook_updated_at: updated_at,
      });
    }
  });
});

test('skips deliveries of an inactive webhook and drops new replays', async () => {
  const [target, twin] = [await makeTarget({ active: false }), await makeTarget({ active: false })];
  const untouched = await pendingOf(db, twin);
  assert.equal((await claimDue(db, target, { ...claim, atMost: 100 })).length, 0);
  const before = await pendingOf(db, target);

  assert.equal(await skipWaiting(db, target, { ...claim, atMost: 2 }), 2);
  assert.equal(await skipWaiting(db, target, { ...claim, atMost: 100 }), 7);

  const [left, stays] = [
    await pendingOf(db, target),
    ['of another process', 'retried by another process', 'known'],
  ];
  assert.deepEqual(left.map(({ id }) => id).toSorted(), stays.map(idOf).toSorted());
  const skipped = await db`
    select * from ended_deliveries where org_id = ${target.org_id} order by id`;
  const kept = before.filter(({ id }) => ![...stays, 'replayed'].map(idOf).includes(id));
  assert.deepEqual(
    [...skipped],
    kept.map(({ next_attempt_at, claimed_by, ...row }) => ({
      ...row,
      undelivered: 'skipped',
      duration_ms: null,
      delivered_at: null,
    })),
  );
  assert.deepEqual(await pendingOf(db, twin), untouched);
});

const dueRows = [
  { name: 'no process has it', dueIn: -1, claimed_by: null, isAbandoned: true },
  { name: 'a dead process has it', dueIn: -1, claimed_by: 'pool-dead', isAbandoned: true },
  { name: 'another process has it', dueIn: -600, claimed_by: other, isAbandoned: false },
  { name: 'it is due later', dueIn: 60, claimed_by: null, isAbandoned: false },
  { name: 'this process has just claimed it', dueIn: -0.1, claimed_by: own, isAbandoned: false },
  { name: 'this process has had it for long', dueIn: -3, claimed_by: own, isAbandoned: true },
] as const;

for (const { name, dueIn, claimed_by, isAbandoned } of dueRows) {
  test(`due deliveries: ${name}`, async () => {
    for (const attempts of [0, 3]) {
      await undone(async (tx) => {
        const org_id = await makeOrganization(tx);
        const target = { org_id, webhook_id: await makeWebhook(tx, org_id) };
        const idle = { org_id, webhook_id: await makeWebhook(tx, org_id) };
        await addDeliveries(tx, { ...target, attempts, claimed_by });
        await tx`
          update pending_deliveries set next_attempt_at = now() + make_interval(secs => ${dueIn})
          where org_id = ${org_id}`;
        const due = await listWebhooksDue(tx, own);
        const has = ({ webhook_id }: WebhookRef) => due.some((of) => of.webhook_id === webhook_id);
        assert.deepEqual([has(target), has(idle)], [isAbandoned, false]);
        const [found] = await tx`select ${hasWebhookDue(tx, own)} as due`;
        assert.equal(found?.['due'], due.length > 0);
      });
    }
  });
}
