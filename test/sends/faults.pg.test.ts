import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createLog } from '../../src/lib/log/log.ts';
import type { MailOutcome } from '../../src/lib/smtp/connection.ts';
import { claim } from '../../src/sends/claim.ts';
import type { Mailer } from '../../src/sends/mail-job.ts';
import { createMailJobs } from '../../src/sends/mail-job.ts';
import { beginMails, markBegunUnknown, saveOutcomes } from '../../src/sends/queries.ts';
import { readContact } from '../../src/sends/rules.ts';
import { createSendProgress } from '../../src/sends/send.ts';
import { accepted, busy } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
const log = createLog({ level: 'silent' });
const progress = await createSendProgress({ db, log });
const settings = { sendDeadlineSeconds: 60 };

/** A survey with claimed mails in a new organization. */
async function claimed(people: number) {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  await claimFor({ orgId, surveyId }, people);
  const sends = await db<{ id: string; org_id: string }[]>`
    select id, org_id from mails where org_id = ${orgId} order by email`;
  return { orgId, surveyId, sends };
}

async function claimFor(where: { orgId: string; surveyId: string }, people: number) {
  const submitted = Array.from({ length: people }, (_, n) =>
    readContact({ email: `p${n}@people.test` }),
  );
  return await claim(db, where, { requestId: randomUUID(), submitted, traceparent: null });
}

const row = {
  org_id: '',
  reason: null,
  reason_code: null,
  failure_reason: null,
} as const;
const statusOf = async (id: string) =>
  (await db<{ status: string }[]>`select status from mails where id = ${id}`)[0]?.status;

test('late outcome of an earlier attempt does not resend a mail', async () => {
  const { orgId, sends } = await claimed(1);
  const { id } = sends[0]!;
  const again = {
    ...row,
    id,
    org_id: orgId,
    attempt: 1,
    status: 'claimed' as const,
    contact_status: 'sending' as const,
  };
  await beginMails(db, sends);
  await saveOutcomes(db, [again]);
  await beginMails(db, sends);

  await saveOutcomes(db, [again]);

  assert.equal(await statusOf(id), 'sending');
});

test('late outcome corrects an unknown mail', async () => {
  const { orgId, sends } = await claimed(1);
  const { id } = sends[0]!;
  await beginMails(db, sends);
  await markBegunUnknown(db, orgId, [id], 'unknown');
  await saveOutcomes(db, [
    { ...row, id, org_id: orgId, attempt: 1, status: 'sent', contact_status: 'sent' },
  ]);
  assert.equal(await statusOf(id), 'sent');
});

test('job ends although one of its mails cannot begin', async () => {
  const { orgId, sends } = await claimed(2);
  const asked: { email: string; answer: (outcome: MailOutcome) => void }[] = [];
  let tries = 0;
  const mailer: Mailer = {
    concurrency: 1,
    async send({ email }, { mayLeave }) {
      tries += 1;
      await mayLeave();
      return await new Promise((answer) => asked.push({ email, answer }));
    },
  };
  const mailJobs = createMailJobs({ db, log, mailer, progress, settings });
  let ended = false;
  const ids = sends.map(({ id }) => id);
  const job = assert.rejects(mailJobs.run(orgId, ids)).then(() => (ended = true));
  await until('the first is on its way', () => asked.length === 1);

  asked[0]!.answer(busy('421 later'));
  await db.begin(async (tx) => {
    await tx`select from mails where org_id = ${orgId} and email <> ${asked[0]!.email} for update`;
    await until(
      'the beginning of the other is cut each time it waits, and the first is tried again',
      async () => {
        if (tries === 3) return true;
        await db`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%sending_at = now%'`;
        return false;
      },
    );
  });
  await until('the first is on its way again', () => asked.length === 2);
  assert.equal(ended, false);

  asked[1]!.answer(accepted());
  await job;
});

test('outcomes are saved during an import', async () => {
  const { orgId, surveyId, sends } = await claimed(2);
  const answers: ((outcome: MailOutcome) => void)[] = [];
  const mailer: Mailer = {
    concurrency: 2,
    async send(_, { mayLeave }) {
      await mayLeave();
      return await new Promise((answer) => answers.push(answer));
    },
  };
  const mailJobs = createMailJobs({ db, log, mailer, progress, settings });
  const ids = sends.map(({ id }) => id);
  const mailed = mailJobs.run(orgId, ids);
  await until('both are on their way', () => answers.length === 2);

  const contacts = await db<{ id: string }[]>`
    select id from contacts where survey_id = ${surveyId} order by email desc`;
  await db.begin(async (tx) => {
    await tx`set local deadlock_timeout = '10s'`;
    for (const [turn, { id }] of contacts.entries()) {
      if (turn === 1) {
        for (const answer of answers) answer(accepted());
        await untilLockWaits(db);
      }
      await tx`update contacts set updated_at = now() where id = ${id}`;
    }
  });
  await mailed;

  assert.deepEqual(await Promise.all(ids.map(statusOf)), ['sent', 'sent']);
});
