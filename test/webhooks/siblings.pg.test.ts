import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import * as claims from '../../src/webhooks/delivery.queries.ts';
import { saveAttempts, saveDelivered } from '../../src/webhooks/record.ts';
import { wasErased } from '../../src/webhooks/retention.ts';
import * as screens from '../../src/webhooks/screen.queries.ts';
import { copyDeliveries, listDeliveries } from '../../src/webhooks/screen.queries.ts';
import { makePool } from '../support/make/deliveries.ts';
import { addDeliveries, idAt } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/**
 * A webhook next to one of its organization and one of another, whose deliveries have the same ids: what is read and
 * written of it is the same without them, and they stay as they are.
 */
const { db } = await testDatabase();
const began = new Date();
const minutesAgo = (n: number) => new Date(began.getTime() - n * 60_000);
const ids = Array.from({ length: 8 }, (_, n) => idAt(minutesAgo(10 - n)));
const [first, retry, failed, delivered, elsewhere] = ids as [
  string,
  string,
  string,
  string,
  string,
];

const attemptAt = { attempts: 1, status_code: 500 };
const rows = [
  { id: first, status: 'pending', attempts: 0 },
  { id: retry, status: 'pending', ...attemptAt, next_attempt_at: minutesAgo(5) },
  { id: failed, status: 'failed', ...attemptAt },
  { id: delivered, status: 'delivered', attempts: 2, duration_ms: 7 },
  { id: ids[6]!, status: 'pending', attempts: 0 },
  { id: ids[7]!, status: 'pending', ...attemptAt, next_attempt_at: minutesAgo(4) },
];
/** What only the others have: a delivery in each table, and deliveries made again of one that failed. */
const ofOthers = [
  { id: elsewhere, status: 'failed', ...attemptAt },
  { id: elsewhere, status: 'pending', attempts: 0 },
  { id: ids[5]!, status: 'failed', ...attemptAt, message_id: failed },
  { id: ids[5]!, status: 'pending', attempts: 0, message_id: failed },
];

type Given = { own: claims.WebhookRef; siblings: claims.WebhookRef[]; by: string };

async function add(sql: Sql, webhook: claims.WebhookRef, what: readonly object[]) {
  const given = { ...webhook, response_body: `of ${webhook.webhook_id}`, claimed_by: 'pool-dead' };
  await addDeliveries(sql, ...what.map((row) => ({ ...given, ...row })));
  const attempts = what === rows ? 1 : 2;
  await sql`
    insert into delivery_attempts (org_id, webhook_id, delivery_id, number, response_body, duration_ms)
    select org_id, webhook_id, id, n, ${given.response_body}, 3 * n
    from ended_deliveries, generate_series(1, ${attempts}) n
    where webhook_id = ${webhook.webhook_id}`;
}

async function scene(t: TestContext, active = true): Promise<Given> {
  const [org_id, otherOrg] = [await makeOrganization(db), await makeOrganization(db)];
  t.after(() => db`delete from organizations where id in (${org_id}, ${otherOrg})`);
  const of = async (org_id: string) => ({
    org_id,
    webhook_id: await makeWebhook(db, org_id, { active }),
  });
  const own = await of(org_id);
  const siblings = [await of(org_id), await of(otherOrg)];
  for (const webhook of siblings) await add(db, webhook, [...rows, ...ofOthers]);
  await add(db, own, rows);
  await db`update events set erased_at = now(), body = '' where id = ${elsewhere}`;
  return { own, siblings, by: await makePool(db) };
}

type Rows = Record<string, unknown>[];

async function kept(sql: Sql, { webhook_id }: claims.WebhookRef): Promise<Rows[]> {
  return [
    await sql<Rows>`select * from pending_deliveries where webhook_id = ${webhook_id} order by id`,
    await sql<Rows>`select * from ended_deliveries where webhook_id = ${webhook_id} order by id`,
    await sql<Rows>`
      select * from delivery_attempts where webhook_id = ${webhook_id} order by delivery_id, number`,
    await sql<Rows>`select * from webhooks where id = ${webhook_id}`,
  ];
}

const outcome = (id: string, number: number, status: 'pending' | 'failed' | 'delivered') => ({
  id,
  number,
  status,
  status_code: 200,
  response_body: 'new',
  error: null,
  duration_ms: 9,
  at: began,
  traceparent: null,
  retry_in_seconds: status === 'pending' ? 60 : null,
});
const arrived = (own: claims.WebhookRef) =>
  [outcome(first, 1, 'delivered'), outcome(retry, 2, 'delivered')].map((each) => ({
    ...own,
    ...each,
  }));
const asked = ({ org_id, webhook_id }: claims.WebhookRef) => ({
  orgId: org_id,
  webhookId: webhook_id,
});
const since = minutesAgo(60);
const taken = (own: claims.WebhookRef, id: string, attempts: number) =>
  ({ ...own, id, attempts }) as claims.ClaimedDelivery;

const acts: Record<string, (sql: Sql, given: Given) => Promise<unknown>> = {
  'a claim': (sql, { own, by }) => claims.claimDue(sql, own, { by, atMost: 4, known: [] }),
  'a release': (sql, { own }) => claims.release(sql, own, [first, retry]),
  'a delivery that is put off': (sql, { own }) => claims.postpone(sql, taken(own, retry, 1), 60),
  'whether a delivery waits': (sql, { own }) => claims.isWaiting(sql, taken(own, elsewhere, 0)),
  'outcomes of attempts': (sql, { own }) =>
    saveAttempts(sql, own, [outcome(first, 1, 'pending'), outcome(retry, 2, 'failed')]),
  'deliveries that arrived': (sql, { own }) => saveDelivered(sql, arrived(own), 1000),
  'the list of the API': (sql, { own }) =>
    listDeliveries(sql, asked(own), { atMost: 3, traceUrl: null }),
  'a page of deliveries': (sql, { own }) =>
    screens.pageOfDeliveries(sql, asked(own), { page: 1, limit: 3, status: null }),
  'a page of what waits': (sql, { own }) =>
    screens.pageOfDeliveries(sql, asked(own), { page: 1, limit: 2, status: 'pending' }),
  'the days': (sql, { own }) => screens.countByDay(sql, asked(own), 3),
  'what a replay would deliver': (sql, { own }) => screens.countReplayable(sql, asked(own), since),
  'a replay': async (sql, { own }) => {
    const which = { webhookId: own.webhook_id, since, traceparent: null };
    return await copyDeliveries(sql, own.org_id, which);
  },
};
for (const [what, id] of [
  ['its own', failed],
  ['another’s', elsewhere],
] as const) {
  acts[`a delivery by the id of ${what}`] = (sql, { own }) =>
    screens.findShownDelivery(sql, asked(own), id);
  acts[`the attempts at ${what}`] = (sql, { own }) => screens.listAttempts(sql, asked(own), id);
  acts[`whether ${what} was erased`] = (sql, { own }) =>
    wasErased(sql, own.org_id, { webhookId: own.webhook_id, deliveryId: id });
  acts[`${what} delivered again`] = (sql, { own }) =>
    copyDeliveries(sql, own.org_id, {
      webhookId: own.webhook_id,
      deliveryId: id,
      traceparent: null,
    });
}
const skips = (sql: Sql, { own, by }: Given) =>
  claims.skipWaiting(sql, own, { by, atMost: 5, known: [] });

/** The outcome of an act and what is kept of the webhook then, without times and ids of the act itself. */
const plain = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (_key, each: unknown) => {
      if (typeof each !== 'string') return each;
      if (/^20\d\d-/.test(each) && each >= began.toISOString()) return 'since then';
      return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(each) && !ids.includes(each) ? 'new' : each;
    }),
  );

for (const [what, act] of [...Object.entries(acts), ['what is skipped', skips] as const]) {
  test(`${what}: of one webhook, whatever its siblings have`, async (t) => {
    const undo = new Error('undone');
    const came: unknown[] = [];
    const given = await scene(t, act !== skips);
    for (const isAlone of [false, true]) {
      const done = db.begin(async (tx) => {
        if (isAlone) {
          await tx`delete from webhooks where id = any (${given.siblings.map((s) => s.webhook_id)})`;
        }
        const before = await Promise.all(given.siblings.map((each) => kept(tx, each)));
        const result = await act(tx, given);
        assert.deepEqual(await Promise.all(given.siblings.map((each) => kept(tx, each))), before);
        came.push(plain([result, await kept(tx, given.own)]));
        throw undo;
      });
      await assert.rejects(done, undo);
    }
    assert.deepEqual(came[0], came[1]);
  });
}

test('a webhook has nothing pending although its siblings have', async (t) => {
  const { own } = await scene(t);
  assert.equal(await claims.hasPending(db, own), true);
  await db`delete from pending_deliveries where webhook_id = ${own.webhook_id}`;
  assert.equal(await claims.hasPending(db, own), false);
});
