import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createLog } from '../../src/lib/log/log.ts';
import type { MailOutcome } from '../../src/lib/smtp/connection.ts';
import { claim, dryRunClaim } from '../../src/sends/claim.ts';
import { createMailJobs } from '../../src/sends/mail-job.ts';
import { readContact } from '../../src/sends/rules.ts';
import { rejected, unanswered } from '../support/make/mail-outcomes.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const log = createLog({ level: 'silent' });
const email = 'ann@people.test';
const submitted = [readContact({ email })];

/** Dry run with a rule of 30 days after an earlier mail to the address. */
async function judgedAfter(mail: { days: number; status?: string; elsewhere?: boolean }) {
  const orgId = await makeOrganization(db, { frequency_days: 30 });
  const mailedBy = mail.elsewhere ? await makeOrganization(db) : orgId;
  const earlier = { org_id: mailedBy, survey_id: await makeSurvey(db, mailedBy) };
  const contact_id = await makeContact(db, earlier, { email });
  const at = new Date(Date.now() - mail.days * 24 * 60 * 60 * 1000);
  const status = mail.status ?? 'sent';
  const row = { ...earlier, contact_id, email, request_id: randomUUID(), month: '2026-01-01' };
  await db`insert into mails ${db({
    ...row,
    status,
    blocks_resend: status !== 'failed',
    claimed_at: at,
    finished_at: at,
  })}`;
  const survey = { orgId, surveyId: await makeSurvey(db, orgId) };
  const [judgement] = (await dryRunClaim(db, survey, submitted)).judgements;
  return 'send' in judgement! ? 'send' : judgement!.reason_code;
}

test('frequency rule of 30 days counts a mail sent 29 days ago', async () => {
  assert.equal(await judgedAfter({ days: 29 }), 'frequency');
});

test('frequency rule of 30 days ignores a mail sent 31 days ago', async () => {
  assert.equal(await judgedAfter({ days: 31 }), 'send');
});

test('frequency rule ignores failed mails', async () => {
  assert.equal(await judgedAfter({ days: 1, status: 'failed' }), 'send');
});

test('frequency rule counts unknown mails', async () => {
  assert.equal(await judgedAfter({ days: 1, status: 'unknown' }), 'frequency');
});

test('frequency rule ignores other organizations', async () => {
  assert.equal(await judgedAfter({ days: 1, elsewhere: true }), 'send');
});

/** Saves an outcome and returns the months of the organization. */
async function usedAfter(outcome: MailOutcome, claimedInMonth?: string) {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  const request = { requestId: randomUUID(), submitted, traceparent: null };
  await claim(db, { orgId, surveyId }, request);
  if (claimedInMonth) {
    await db`insert into mail_usage (org_id, month, used) values (${orgId}, ${claimedInMonth}::date, 5)`;
    await db`update mails set month = ${claimedInMonth}::date where org_id = ${orgId}`;
  }
  const [{ id } = { id: '' }] = await db<{ id: string }[]>`
    select id from mails where org_id = ${orgId}`;
  const jobs = createMailJobs({
    db,
    log,
    progress: { report: async () => {} },
    settings: { sendDeadlineSeconds: 60 },
    mailer: {
      concurrency: 1,
      async send(_, { mayLeave }) {
        await mayLeave();
        return outcome;
      },
    },
  });
  await jobs.run(orgId, [id]);
  const months = await db<{ used: number }[]>`
    select used from mail_usage where org_id = ${orgId} order by month`;
  return months.map(({ used }) => used);
}

test('unknown mail stays in the quota', async () => {
  assert.deepEqual(await usedAfter(unanswered('cut')), [1]);
});

test('failed mail returns its quota to the month of its claim', async () => {
  assert.deepEqual(await usedAfter(rejected('554 no'), '2020-02-01'), [4, 1]);
});
