import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { findAttention, findHomeSetting } from '../../src/home/queries.ts';
import { one, type Sql } from '../../src/lib/db/db.ts';
import { offManually } from '../../src/webhooks/rules.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const hours = (n: number) => new Date(Date.now() - n * 3_600_000);
const daysAgo = (n: number) => hours(n * 24);

async function scene(over: Record<string, unknown> = {}) {
  const org_id = await makeOrganization(db, over);
  return { org_id, survey_id: await makeSurvey(db, org_id) };
}

const attention = (orgId: string, sql: Sql = db) => findAttention(sql, orgId);

test('counts unassigned detractors of 30 local days, with the oldest', async () => {
  const of = await scene({ time_zone: 'Asia/Tokyo' });
  const first = one(
    await db<{ at: Date }[]>`
      select ((now() at time zone 'Asia/Tokyo')::date - 30)::timestamp at time zone 'Asia/Tokyo' as at`,
  ).at;
  const bad = { score: 2, category: 'detractor' };
  const member = await makeMember(db);
  await joinOrganization(db, { org: of.org_id, member, role: 'editor' });
  await makeResponse(db, of, { ...bad, created_at: first });
  await makeResponse(db, of, { ...bad, created_at: new Date(first.getTime() - 1) });
  await makeResponse(db, of, bad);
  await makeResponse(db, of, { ...bad, chosen_state: 'done' });
  await makeResponse(db, of, { ...bad, owner_id: member });
  await makeResponse(db, of, { ...bad, held_reason: 'scanner' });
  await makeResponse(db, of, { score: 8, category: 'passive', chosen_state: 'open' });
  await makeResponse(db, await scene(), bad);
  const found = await attention(of.org_id);
  assert.equal(found.open_detractors, 2);
  assert.equal(new Date(found.oldest_open!).getTime(), first.getTime());
  assert.equal(found.held, 1);
});

test('counts mails and bounces of 7 days by outcome', async () => {
  const of = await scene();
  await makeSurvey(db, of.org_id);
  const other = await scene();
  const mail = async (at: Date, status: string, where = of) => {
    const contact_id = await makeContact(db, where);
    const own = { ...where, contact_id, request_id: randomUUID(), email: `${contact_id}@p.test` };
    const blocks_resend = status !== 'failed';
    await db`insert into mails ${db({ ...own, month: '2026-03-01', status, claimed_at: at, blocks_resend })}`;
  };
  const [young, old] = [hours(7 * 24 - 1), hours(7 * 24 + 1)];
  for (const status of ['sent', 'sent', 'sent', 'failed', 'unknown', 'claimed']) {
    await mail(young, status);
  }
  for (const status of ['sent', 'failed']) await mail(old, status);
  for (const status of ['sent', 'failed']) await mail(young, status, other);
  const suppress = (org_id: string, kind: string, created_at: Date) =>
    db`insert into suppressions ${db({ org_id, kind, created_at, email: `${randomUUID()}@p.test` })}`;
  await suppress(of.org_id, 'bounced', young);
  await suppress(of.org_id, 'bounced', young);
  await suppress(of.org_id, 'bounced', old);
  await suppress(of.org_id, 'unsubscribed', young);
  await suppress(other.org_id, 'bounced', young);
  for (const [months, used] of [
    [0, 5],
    [1, 50],
  ] as const) {
    await db`
      insert into mail_usage (org_id, month, used)
      values (${of.org_id}, (date_trunc('month', now() at time zone 'UTC') - make_interval(months => ${months}))::date, ${used})`;
  }
  const { mails_sent, mails_failed, bounced, mails_used } = await attention(of.org_id);
  assert.deepEqual([mails_sent, mails_failed, bounced, mails_used], [3, 2, 2, 5]);
});

test('lists five failing webhooks, inactive ones first, then the newest', async () => {
  const { org_id } = await scene();
  const add = (url: string, age: number, over: Record<string, unknown>) =>
    makeWebhook(db, org_id, { url, created_at: daysAgo(age), ...over });
  await add('https://failing-old', 9, { failure_count: 1 });
  await add('https://failing-older', 10, { failure_count: 2 });
  await add('https://failing-new', 2, { failure_count: 1 });
  await add('https://off-old', 8, { active: false, deactivated_reason: 'it failed' });
  await add('https://off-new', 3, { active: false, deactivated_reason: 'it failed' });
  const failed = { active: false, failure_count: 3, deactivated_reason: 'it failed' };
  await add('https://off-failing', 5, failed);
  await add('https://off-by-hand', 1, { ...failed, deactivated_reason: offManually });
  await add('https://fine', 1, {});
  await makeWebhook(db, (await scene()).org_id, { failure_count: 3 });
  const { webhooks } = await attention(org_id);
  assert.deepEqual(
    webhooks.map(({ url }) => url.slice('https://'.length)),
    ['off-new', 'off-failing', 'off-old', 'failing-new', 'failing-old'],
  );
});

test('offers the twelve surveys with the most responses, and their kinds', async () => {
  const org_id = await makeOrganization(db);
  const other = await scene();
  await makeResponse(db, other);
  const made: { name: string; responses: number; age: number; over?: Record<string, unknown> }[] = [
    { name: 'most', responses: 3, age: 99 },
    { name: 'stars', responses: 2, age: 50, over: { type: 'star5' } },
    { name: 'staff', responses: 1, age: 2, over: { audience: 'employee' } },
    { name: 'new', responses: 1, age: 1 },
    ...Array.from({ length: 9 }, (_, n) => ({ name: `none ${n}`, responses: 0, age: 3 + n })),
  ];
  const ids: Record<string, string> = {};
  for (const { name, responses, age, over } of made) {
    ids[name] = await makeSurvey(db, org_id, { name, created_at: daysAgo(age), ...over });
    const of = { org_id, survey_id: ids[name] };
    for (let n = 0; n < responses; n++) await makeResponse(db, of);
    await makeResponse(db, of, { held_reason: 'scanner' });
  }
  const found = await findHomeSetting(db, org_id);
  assert.equal(found.survey_count, 13);
  assert.deepEqual(
    found.surveys.map(({ name }) => name),
    ['most', 'stars', 'new', 'staff', ...Array.from({ length: 8 }, (_, n) => `none ${n}`)],
  );
  assert.deepEqual(
    found.kinds.map(({ type, audience, responses }) => [type, audience, responses]),
    [
      ['nps', 'customer', 4],
      ['star5', 'customer', 2],
      ['nps', 'employee', 1],
    ],
  );
});
