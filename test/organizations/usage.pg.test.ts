import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import {
  addUsage,
  giveBackUsage,
  lockUsage,
  readUsage,
  refuseOverLimit,
} from '../../src/organizations/queries.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

const usageOf = async (orgId: string) =>
  (
    await db<{ month: string; used: number }[]>`
      select month::text, used from mail_usage where org_id = ${orgId} order by month`
  ).map(({ month, used }) => [month, used]);

const giveBack = (orgId: string, mails: number, sql: Sql = db) =>
  giveBackUsage(sql, sql`values (${orgId}::uuid, '2026-04-01'::date, ${mails}::int)`);

test('returned quota goes to its month and organization', async () => {
  const [ours, theirs] = [await makeOrganization(db), await makeOrganization(db)];
  await db`insert into mail_usage (org_id, month, used)
    values (${ours}, '2026-04-01', 9), (${ours}, '2026-05-01', 5), (${theirs}, '2026-04-01', 7)`;
  await giveBack(ours, 2);
  assert.deepEqual(await usageOf(ours), [
    ['2026-04-01', 7],
    ['2026-05-01', 5],
  ]);
  assert.deepEqual(await usageOf(theirs), [['2026-04-01', 7]]);
});

test('a month starts empty and counts sends in UTC', async () => {
  const org = await makeOrganization(db, { monthly_send_limit: 8, frequency_days: 14 });
  const { month, ...settings } = await lockUsage(db, org);
  assert.equal(month, `${new Date().toISOString().slice(0, 7)}-01`);
  assert.deepEqual(settings, { used: 0, monthly_send_limit: 8, frequency_days: 14 });
  await addUsage(db, org, month, 3);
  assert.equal((await lockUsage(db, org)).used, 3);
});

const moments: [at: string, month: string, used: number][] = [
  ['2026-03-31T23:59:59.999Z', '2026-03-01', 3],
  ['2026-04-01T00:00:00Z', '2026-04-01', 4],
  ['2026-04-30T20:30:00-05:00', '2026-05-01', 0],
];
for (const [at, month, used] of moments) {
  test(`usage at ${at} belongs to the month ${month}`, async () => {
    const [org, other] = [await makeOrganization(db), await makeOrganization(db)];
    await db`
      insert into mail_usage (org_id, month, used)
      values (${org}, '2026-03-01', 3), (${org}, '2026-04-01', 4), (${other}, ${month}::date, 9)`;
    const { monthly_send_limit, frequency_days } = await readUsage(db, org);
    const expected = { used, month, monthly_send_limit, frequency_days };
    assert.deepEqual({ ...(await readUsage(db, org, new Date(at))) }, expected);
    assert.deepEqual({ ...(await lockUsage(db, org, new Date(at))) }, expected);
  });
}

const limits: [used: number, requested: number, allowed: boolean][] = [
  [7, 1, true],
  [7, 2, false],
  [8, 0, true],
  [8, 1, false],
  [9, 0, true],
];
for (const [used, requested, allowed] of limits) {
  test(`${requested} mails after ${used} of 8 are ${allowed ? 'allowed' : 'refused'}`, () => {
    const settings = { used, month: '2026-05-01', monthly_send_limit: 8, frequency_days: null };
    if (allowed) return refuseOverLimit(settings, requested);
    assert.throws(() => refuseOverLimit(settings, requested), {
      kind: 'forbidden',
      code: 'SEND_LIMIT_EXCEEDED',
      details: { current_limit: 8, used, requested },
    });
  });
}
