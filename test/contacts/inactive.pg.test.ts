import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type Inactive, listInactive, lockInactive } from '../../src/contacts/erase.ts';
import { inTransaction, one, type Sql } from '../../src/lib/db/db.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const days = 30;

type Contact = { org_id: string; survey_id: string; contact_id: string };
/** The last moment that counts as active, and one before it. */
type Moment = 'kept' | 'gone';
type Act = (tx: Sql, contact: Contact) => Promise<unknown>;

const time = (tx: Sql, moment: Moment) => {
  const more = moment === 'kept' ? '0' : '1 microsecond';
  return tx`now() - make_interval(days => ${days}) - ${more}::text::interval`;
};
const change =
  (column: 'created_at' | 'updated_at' | 'sent_at' | 'responded_at', moment: Moment): Act =>
  (tx, { contact_id }) =>
    tx`update contacts set ${tx(column)} = ${time(tx, moment)} where id = ${contact_id}`;
const mail =
  (status: string, finished: Moment | null): Act =>
  (tx, { org_id, survey_id, contact_id }) =>
    tx`
    insert into mails (org_id, survey_id, contact_id, email, request_id, month, status, blocks_resend, claimed_at, finished_at)
    values (${org_id}, ${survey_id}, ${contact_id}, ${`${randomUUID()}@people.test`}, ${randomUUID()}, '2026-01-01',
            ${status}, ${status !== 'failed'}, ${time(tx, 'gone')}, ${finished ? time(tx, finished) : null})`;
const visit =
  (moment: Moment): Act =>
  (tx, { org_id, survey_id, contact_id }) =>
    tx`
    insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
    values (${org_id}, ${survey_id}, ${contact_id}, 'view', 'GET', ${time(tx, moment)})`;
const result =
  (judged: object): Act =>
  async (tx, contact) => {
    const { org_id, survey_id } = contact;
    const campaign = { org_id, survey_id, name: 'Spring', status: 'running' };
    const { id: campaign_id } = one(
      await tx<{ id: string }[]>`insert into campaigns ${tx(campaign)} returning id`,
    );
    await tx`insert into campaign_contacts ${tx({ ...contact, campaign_id, ...judged })}`;
  };

const cases: [what: string, acts: readonly Act[], isInactive: boolean][] = [
  ['was changed longer ago', [], true],
  ['was added so long ago', [change('created_at', 'kept')], false],
  ['was changed so long ago', [change('updated_at', 'kept')], false],
  ['was mailed longer ago', [change('sent_at', 'gone')], true],
  ['was mailed so long ago', [change('sent_at', 'kept')], false],
  ['answered longer ago', [change('responded_at', 'gone')], true],
  ['answered so long ago', [change('responded_at', 'kept')], false],
  ['has a mail that waits', [mail('claimed', null)], false],
  ['has a mail that is going out', [mail('sending', null)], false],
  ['has a mail that failed longer ago', [mail('failed', 'gone')], true],
  ['has a mail that failed so long ago', [mail('failed', 'kept')], false],
  ['opened its link longer ago', [visit('gone')], true],
  ['opened its link so long ago', [visit('kept')], false],
  ['waits in a campaign', [result({})], false],
  ['was claimed by a campaign', [result({ batch_id: randomUUID() })], true],
  ['was left out by a campaign', [result({ reason_code: 'bounced', reason: 'bounced' })], true],
];
const busy = [mail('claimed', null), mail('failed', 'kept'), visit('kept'), result({})];

for (const [what, acts, isInactive] of cases) {
  test(`contact that ${what} is ${isInactive ? '' : 'not '}inactive`, async () => {
    await inTransaction(db, async (tx) => {
      const org_id = await makeOrganization(tx);
      const of = { org_id, survey_id: await makeSurvey(tx, org_id) };
      const [id, another] = [await old(tx, of), await old(tx, of)];
      for (const act of acts) await act(tx, { ...of, contact_id: id });
      for (const act of busy) await act(tx, { ...of, contact_id: another });
      const listed = await listInactive(tx, org_id, { days, after: null, atMost: 10 });
      const expected = isInactive ? [id] : [];
      assert.deepEqual(
        listed.map((each) => each.id),
        expected,
      );
      assert.deepEqual(await lockInactive(tx, org_id, { days, ids: [id, another] }), expected);
    });
  });
}

async function old(tx: Sql, of: { org_id: string; survey_id: string }) {
  const contact_id = await makeContact(tx, of);
  for (const column of ['created_at', 'updated_at'] as const) {
    await change(column, 'gone')(tx, { ...of, contact_id });
  }
  return contact_id;
}

test('inactive contacts with equal times are listed once in any page size', async () => {
  const org_id = await makeOrganization(db);
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  const ids = Array.from({ length: 5 }, () => randomUUID())
    .sort()
    .reverse();
  const times = { created_at: new Date(0), updated_at: new Date(0) };
  for (const id of ids) await makeContact(db, of, { id, ...times });
  for (const atMost of [1, 2, 10]) {
    const found: Inactive[] = [];
    for (let more = true; more && found.length <= ids.length; ) {
      const after = found.at(-1) ?? null;
      const part = await listInactive(db, org_id, { days, after, atMost });
      found.push(...part);
      more = part.length === atMost;
    }
    assert.deepEqual(
      found.map(({ id }) => id),
      ids.toReversed(),
    );
  }
});
