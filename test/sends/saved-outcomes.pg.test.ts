import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { lockMonths, saveOutcomes } from '../../src/sends/record.queries.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/** What an outcome writes of each mail: said by hand for every state that a mail may be in, in one batch of all. */
const { db } = await testDatabase();
const states = ['claimed', 'sending', 'sent', 'failed', 'unknown'] as const;
const outcomes = ['sent', 'failed', 'unknown', 'claimed'] as const;
const [month, before] = ['2026-05-01', '2026-04-01'];
const attempts = 2;

/** Which outcome may still be written to a mail in which state, of the attempt that it is in. */
const mayFollow: Record<(typeof states)[number], readonly string[]> = {
  claimed: ['failed'],
  sending: ['sent', 'failed', 'unknown', 'claimed'],
  sent: [],
  failed: [],
  unknown: ['sent', 'failed', 'unknown'],
};

const cases = states.flatMap((state) =>
  outcomes.flatMap((outcome) =>
    [attempts, attempts - 1, attempts + 1].flatMap((attempt) =>
      [true, false].map((isOwn) => {
        const isWritten = mayFollow[state].includes(outcome) && attempt === attempts && isOwn;
        return { state, outcome, attempt, isOwn, isWritten, id: randomUUID() };
      }),
    ),
  ),
);

const monthOf = (state: (typeof states)[number]) => (states.indexOf(state) % 2 ? month : before);

/** A mail of each case; in which month depends on its state. */
async function makeMails() {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  for (const [at, { id, state }] of cases.entries()) {
    const email = `Mail${at}@People.test`;
    const contact_id = await makeContact(db, { org_id, survey_id }, { email, status: 'sending' });
    const mail = { id, org_id, survey_id, contact_id, email, status: state, attempts };
    const rest = { request_id: randomUUID(), month: monthOf(state) };
    await db`insert into mails ${db({ ...mail, ...rest, blocks_resend: state !== 'failed' })}`;
  }
  const used = { used: 100 };
  await db`insert into mail_usage ${db([
    { org_id, month, ...used },
    { org_id, month: before, ...used },
  ])}`;
  return org_id;
}

test('an outcome is written to the mail of its organization that is still in the attempt, with all that follows', async () => {
  const [orgId, other] = [await makeMails(), await makeOrganization(db)];
  const contactStatus = { sent: 'sent', failed: 'bounced', unknown: 'failed', claimed: 'sending' };
  await saveOutcomes(
    db,
    cases.map(({ id, outcome, attempt, isOwn }, at) => ({
      ...{ id, org_id: isOwn ? orgId : other, attempt, status: outcome, reason: `reason ${at}` },
      ...{ reason_code: `code ${at}`, contact_status: contactStatus[outcome] as 'sent' },
      failure_reason: outcome === 'sent' ? null : `failure ${at}`,
    })),
  );
  const found = await db`
    select m.id, m.status, m.reason, m.reason_code, m.finished_at is not null as has_finished,
           c.status as contact, c.failure_reason, c.sent_at is not null as was_sent, s.detail
    from mails m
    join contacts c on c.id = m.contact_id
    left join suppressions s on s.org_id = m.org_id and s.email = m.email_key and s.kind = 'bounced'
    where m.org_id = ${orgId}`;
  const wanted = cases.map(({ id, state, outcome, isWritten }, at) => {
    const isMarked = isWritten && outcome !== 'claimed';
    return {
      ...{ id, status: isWritten ? outcome : state, has_finished: isMarked },
      reason: isWritten ? `reason ${at}` : null,
      reason_code: isWritten ? `code ${at}` : null,
      contact: isMarked ? contactStatus[outcome] : 'sending',
      failure_reason: isMarked && outcome !== 'sent' ? `failure ${at}` : null,
      was_sent: isMarked && outcome === 'sent',
      detail: isMarked && outcome === 'failed' ? `reason ${at}` : null,
    };
  });
  const byId = (a: { id?: string }, b: { id?: string }) => (a.id! < b.id! ? -1 : 1);
  assert.deepEqual([...found].toSorted(byId), wanted.toSorted(byId));

  const failedIn = (each: string) =>
    cases.filter(
      ({ state, outcome, isWritten }) =>
        isWritten && outcome === 'failed' && monthOf(state) === each,
    ).length;
  const usage = await db`
    select month::text, used from mail_usage where org_id = ${orgId} order by month`;
  assert.deepEqual(
    [...usage].map((row) => ({ ...row })),
    [
      { month: before, used: 100 - failedIn(before) },
      { month, used: 100 - failedIn(month) },
    ],
  );
});

test('of failed mails the months are locked that they belong to, and no others', async () => {
  const [orgId, other] = [await makeOrganization(db), await makeOrganization(db)];
  const survey_id = await makeSurvey(db, orgId);
  const contact_id = await makeContact(db, { org_id: orgId, survey_id });
  const id = randomUUID();
  const mail = { id, org_id: orgId, survey_id, contact_id, email: 'a@people.test', month };
  await db`insert into mails ${db({ ...mail, request_id: randomUUID() })}`;
  const usage = [orgId, other].flatMap((org_id) =>
    [before, month].map((each) => ({ org_id, month: each, used: 1 })),
  );
  await db`insert into mail_usage ${db(usage)}`;
  await db.begin(async (tx) => {
    await lockMonths(tx, [id]);
    const free = await db`
      select org_id, month::text, used from mail_usage
      where org_id in (${orgId}, ${other}) for no key update skip locked`;
    const key = (row: object) => JSON.stringify(Object.entries(row).toSorted());
    const rest = usage.filter((row) => row.org_id !== orgId || row.month !== month);
    assert.deepEqual([...free].map(key).toSorted(), rest.map(key).toSorted());
  });
});
