import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { giveBackClaims } from '../../src/sends/queries.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const months = ['2026-01-01', '2026-02-01'] as const;

/** An organization that has used ten mails in each of the months. */
async function scene() {
  const org_id = await makeOrganization(db);
  await db`insert into mail_usage ${db(months.map((month) => ({ org_id, month, used: 10 })))}`;
  const add = async (mails: readonly [month: string, status: string][]) => {
    const of = { org_id, survey_id: await makeSurvey(db, org_id) };
    const contact_id = await makeContact(db, of);
    for (const [month, status] of mails) {
      const email = `${randomUUID()}@people.test`;
      await db`insert into mails ${db({
        ...of,
        contact_id,
        email,
        request_id: randomUUID(),
        month,
        status,
        blocks_resend: status !== 'failed',
      })}`;
    }
    return contact_id;
  };
  const used = async () => {
    const rows = await db<{ used: number }[]>`
      select used from mail_usage where org_id = ${org_id} order by month`;
    return rows.map((row) => row.used);
  };
  return { org_id, add, used };
}

test('claimed mails of erased contacts return their quota', async () => {
  const [own, other] = [await scene(), await scene()];
  const all = ['claimed', 'sending', 'sent', 'failed', 'unknown'];
  const one = await own.add(all.map((status) => [months[0], status] as [string, string]));
  const two = await own.add([
    [months[0], 'claimed'],
    [months[1], 'claimed'],
  ]);
  await own.add([
    [months[0], 'claimed'],
    [months[1], 'claimed'],
  ]);
  const theirs = await other.add([[months[0], 'claimed']]);
  await giveBackClaims(db, own.org_id, [one, two, theirs]);
  assert.deepEqual(await own.used(), [8, 9]);
  assert.deepEqual(await other.used(), [10, 10]);
});
