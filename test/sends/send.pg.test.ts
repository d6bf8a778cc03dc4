import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import fc from 'fast-check';
import { createLog } from '../../src/lib/log/log.ts';
import type { MailOutcome } from '../../src/lib/smtp/connection.ts';
import type { Mailer } from '../../src/sends/mail-job.ts';
import { createMailJobs } from '../../src/sends/mail-job.ts';
import {
  createSendProgress,
  dryRunSend,
  type SendTools,
  sendSurvey,
} from '../../src/sends/send.ts';
import { accepted, lost, rejected, unanswered } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey, writeKeyOf } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const log = createLog({ level: 'silent' });
const progress = await createSendProgress({ db, log });

/** A mail server with a chosen reply that remembers its recipients. */
function mailServer(say: (email: string, tries: number) => MailOutcome = accepted) {
  const mailed: string[] = [];
  const mailer: Mailer = {
    concurrency: 20,
    send: async ({ email }, { mayLeave }) => {
      if (!(await mayLeave())) return lost();
      mailed.push(email);
      return say(email, mailed.filter((each) => each === email).length);
    },
  };
  return { mailed, mailer };
}

/** Jobs of one test must not take the jobs of the next. */
const running: Promise<void>[] = [];
afterEach(async () => void (await Promise.all(running.splice(0))));

/** Sends, and runs the jobs without the queue. */
function sending(mailer: Mailer, { sendDeadlineSeconds = 30 } = {}) {
  const settings = { sendDeadlineSeconds: 60 };
  const mailJobs = createMailJobs({ db, log, mailer, progress, settings });
  const runJobs = async () => {
    const jobs = await db<{ payload: { org_id: string; mail_ids: string[] } }[]>`
      delete from test.jobs where task = 'sends.mail' returning payload`;
    await Promise.all(jobs.map(({ payload }) => mailJobs.run(payload.org_id, payload.mail_ids)));
  };
  const watch: typeof progress.watch = (requestId) => {
    const own = progress.watch(requestId);
    const next = (remainingMs: number) => {
      running.push(runJobs());
      return own.next(remainingMs);
    };
    return { ...own, next };
  };
  /** Jobs wait until the test runs them. */
  const idle: SendTools = { db, progress, settings: { sendDeadlineSeconds } };
  return { tools: { ...idle, progress: { watch } }, idle, runJobs };
}

async function organization(over: Record<string, unknown> = {}) {
  const orgId = await makeOrganization(db, over);
  const key = writeKeyOf(orgId);
  return { orgId, key, survey: await makeSurvey(db, orgId) };
}

const people = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ email: `p${from + n}@people.test` }));

const wish = (surveyId: string, contacts: unknown[]) => ({ surveyId, contacts, traceparent: null });

const used = async (orgId: string) =>
  (await db<{ used: number }[]>`select used from mail_usage where org_id = ${orgId}`)[0]?.used ?? 0;

test('send returns a result per contact in request order', async () => {
  const { key, survey } = await organization();
  const { mailed, mailer } = mailServer();
  const contacts = [
    { email: 'Ann@people.test', name: 'Ann' },
    { email: 'nobody' },
    null,
    { email: 'ann@PEOPLE.test' },
    { email: 'bob@people.test' },
  ];
  const answer = await sendSurvey(sending(mailer).tools, key, wish(survey, contacts));

  assert.deepEqual(
    answer.results.map(({ email, status, reason_code }) => [email, status, reason_code]),
    [
      ['Ann@people.test', 'sent', undefined],
      ['nobody', 'invalid', 'invalid_email'],
      ['', 'invalid', 'invalid_email'],
      ['ann@PEOPLE.test', 'duplicate', 'repeated'],
      ['bob@people.test', 'sent', undefined],
    ],
  );
  assert.deepEqual([answer.sent, answer.duplicates, answer.invalid, answer.failed], [2, 1, 2, 0]);
  assert.equal(answer.contacts_queued, 2);
  assert.equal(answer.contacts.length, 2);
  assert.deepEqual(mailed.sort(), ['Ann@people.test', 'bob@people.test']);
});

test('send does not repeat a survey to an address in any case', async () => {
  const { key, survey } = await organization();
  const { mailed, mailer } = mailServer();
  const { tools } = sending(mailer);
  await sendSurvey(tools, key, wish(survey, [{ email: 'ann@people.test' }]));
  const again = await sendSurvey(tools, key, wish(survey, [{ email: 'ANN@people.test' }]));

  assert.equal(again.results[0]?.reason_code, 'already_sent');
  assert.equal(again.contacts.length, 1);
  assert.equal(mailed.length, 1);
});

test('32 concurrent sends of a list mail each address once', async () => {
  const { key, survey, orgId } = await organization();
  const { mailed, mailer } = mailServer();
  const { tools } = sending(mailer);
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => sendSurvey(tools, key, wish(survey, people(40)))),
  );

  assert.equal(mailed.length, 40);
  assert.equal(
    answers.reduce((sum, { sent }) => sum + sent, 0),
    40,
  );
  assert.equal(
    answers.reduce((sum, { duplicates }) => sum + duplicates, 0),
    31 * 40,
  );
  assert.equal(await used(orgId), 40);
});

test('64 sends of 50 at once never exceed a limit of 1,000', async () => {
  const { key, orgId, survey } = await organization({ monthly_send_limit: 1000 });
  const { mailed, mailer } = mailServer();
  const { tools } = sending(mailer);
  const sends = await Promise.allSettled(
    Array.from({ length: 64 }, (_, n) => sendSurvey(tools, key, wish(survey, people(50, n * 50)))),
  );

  assert.equal(sends.filter(({ status }) => status === 'fulfilled').length, 20);
  assert.equal(mailed.length, 1000);
  assert.equal(await used(orgId), 1000);
});

test('send over the monthly limit creates nothing', async () => {
  const { key, orgId, survey } = await organization({ monthly_send_limit: 2 });
  const { mailed, mailer } = mailServer();
  await assert.rejects(sendSurvey(sending(mailer).tools, key, wish(survey, people(3))), {
    kind: 'forbidden',
    code: 'SEND_LIMIT_EXCEEDED',
    details: { current_limit: 2, used: 0, requested: 3 },
  });

  const contacts = await db`select from contacts where org_id = ${orgId}`;
  assert.equal(contacts.length, 0);
  assert.equal(mailed.length, 0);
});

test('failed mails return quota and a later send retries them', async () => {
  const { key, orgId, survey } = await organization();
  const refuse = (_: string, tries: number): MailOutcome =>
    tries === 1 ? rejected('554 no') : accepted();
  const { tools } = sending(mailServer(refuse).mailer);

  const first = await sendSurvey(tools, key, wish(survey, people(1)));
  assert.deepEqual([first.results[0]?.status, first.results[0]?.reason], ['failed', '554 no']);
  assert.equal(await used(orgId), 0);

  const second = await sendSurvey(tools, key, wish(survey, people(1)));
  assert.equal(second.sent, 1);
  assert.equal(await used(orgId), 1);
});

test('unknown mailbox bounces and gets no later survey', async () => {
  const { key, orgId, survey } = await organization();
  const unknown = () => rejected('550 5.1.1 no such user', { unknownMailbox: true });
  const { tools } = sending(mailServer(unknown).mailer);
  await sendSurvey(tools, key, wish(survey, people(1)));

  const [contact] = await db`select status from contacts where org_id = ${orgId}`;
  assert.equal(contact?.['status'], 'bounced');
  const other = await makeSurvey(db, orgId);
  const later = await sendSurvey(tools, key, wish(other, people(1)));
  assert.equal(later.results[0]?.reason_code, 'bounced');
});

test('unknown outcome is answered as failed and never repeated', async () => {
  const { key, survey } = await organization();
  const silent = () => unanswered('no reply after the message');
  const { mailed, mailer } = mailServer(silent);
  const { tools } = sending(mailer);

  const first = await sendSurvey(tools, key, wish(survey, people(1)));
  assert.deepEqual(
    [first.results[0]?.status, first.results[0]?.reason_code],
    ['failed', 'unknown_outcome'],
  );
  const second = await sendSurvey(tools, key, wish(survey, people(1)));
  assert.equal(second.results[0]?.reason_code, 'unknown_outcome');
  assert.equal(mailed.length, 1);
});

test('unsubscribed contact gets no mail from the organization', async () => {
  const { key, orgId, survey } = await organization();
  await db`insert into suppressions ${db({ org_id: orgId, email: 'p0@people.test', kind: 'unsubscribed' })}`;
  const { tools } = sending(mailServer().mailer);
  const answer = await sendSurvey(tools, key, wish(survey, people(1)));
  assert.equal(answer.results[0]?.reason_code, 'unsubscribed');

  const other = await organization();
  assert.equal((await sendSurvey(tools, other.key, wish(other.survey, people(1)))).sent, 1);
});

test('mails that have not begun are cancelled at the deadline', async () => {
  const { key, orgId, survey } = await organization();
  const { idle, runJobs } = sending(mailServer().mailer, { sendDeadlineSeconds: 0 });
  const answer = await sendSurvey(idle, key, wish(survey, people(2)));

  assert.equal(answer.failed, 2);
  assert.equal(await used(orgId), 0);
  await runJobs();
  const [mail] = await db`select distinct status from mails where org_id = ${orgId}`;
  assert.equal(mail?.['status'], 'failed');
});

test('unusual addresses get a result each and at most one mail', async () => {
  const { key, survey } = await organization();
  const { mailed, mailer } = mailServer();
  const { tools } = sending(mailer);
  const odd = fc.string({
    unit: fc.constantFrom(...'aIiİıßſKüÜu\u0308中ｅ\u0000\ud800.-'),
    maxLength: 4,
  });
  const email = fc.tuple(odd, odd).map(([local, name]) => `a${local}@x${name}.example`);
  await fc.assert(
    fc.asyncProperty(fc.array(email, { minLength: 1, maxLength: 20 }), async (emails) => {
      const contacts = emails.map((each) => ({ email: each }));
      const tried = await dryRunSend(tools, key, wish(survey, contacts));
      const { results } = await sendSurvey(tools, key, wish(survey, contacts));
      assert.deepEqual(
        results.map((each) => each.email),
        emails,
      );
      assert.deepEqual(tried.results, results);
      assert.ok(results.every(({ status }) => status !== 'failed'));
    }),
    { numRuns: 40 },
  );
  const inboxes = mailed.map((each) => each.toLowerCase());
  assert.ok(inboxes.length > 20);
  assert.equal(new Set(inboxes).size, inboxes.length);
});
