import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { recordAct, type Writer } from '../audit/acts.ts';
import { contactProperties } from '../contacts/queries.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue, type JobPayloads } from '../jobs.ts';
import { inLanguage } from '../letters/letter.ts';
import { type Db, inTransaction, one, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { described } from '../lib/paging/page.ts';
import { TurnedAway } from '../lib/queue/task.ts';
import { isRetryable, type MailOutcome } from '../lib/smtp/connection.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { lockUsage } from '../organizations/queries.ts';
import { testToken, withoutUndefined } from '../surveys/lifecycle.ts';
import {
  findSurvey,
  getOrgSurvey,
  type ManagedSurvey,
  type OrgSurvey,
} from '../surveys/queries.ts';
import { Address, type SurveyChange } from '../surveys/schemas.ts';
import { type AddressedPerson, languageFor } from '../surveys/texts.ts';
import type { FlashNotice } from '../web/app/flash.ts';
import { findMailSender, type WrittenMail } from './queries.ts';
import type { SendProgress } from './send.ts';

const maxPerHour = 20;

export const TestMailInput = v.object({
  email: described(Address, 'recipient of the test'),
  contact_id: described(
    v.nullish(Uuid),
    'contact of the survey, or person of the directory, that fills the placeholders; defaults to an example',
  ),
  language: described(
    v.nullish(v.string('must be text')),
    "one of the survey's languages; defaults to the contact's",
  ),
});

export const TestMail = v.object({ email: v.string(), language: v.string() });

type TestMailRequest = v.InferOutput<typeof TestMailInput> & {
  surveyId: string;
  /** Unsaved content of the survey form. */
  content?: SurveyChange;
  testId?: string;
};

export const exampleReader: AddressedPerson = { name: 'Robin Reader', properties: {} };

/** Enqueues a test email: it counts nowhere, and its links record nothing. */
export async function requestTestMail(
  { db }: { db: Db },
  { orgId, actor }: Writer,
  {
    surveyId,
    email,
    contact_id,
    language: requested,
    content,
    testId = randomUUID(),
  }: TestMailRequest,
) {
  return await inTransaction(db, async (tx) => {
    await lockUsage(tx, orgId);
    const saved = await getOrgSurvey(tx, orgId, surveyId);
    const survey: ManagedSurvey = { ...saved, ...withoutUndefined(content ?? {}) };
    const reader = contact_id
      ? await findReader(tx, { orgId, surveyId }, contact_id)
      : exampleReader;
    if (!reader) throw notFound('contact');
    if (requested && requested !== survey.language && !survey.texts[requested]) {
      throw new Refusal('invalid', `language: the survey has no texts in ${requested}`);
    }
    const language = requested || languageFor(survey, { property: reader.properties['language'] });
    await refuseTooMany(tx, orgId);
    const { question_text, subject, intro } = inLanguage(survey, language);
    const { from_name, from_email, reply_to } = survey;
    const words = { question_text, subject, intro, from_name, from_email, reply_to };
    const test = { test_id: testId, email, contact_id: contact_id ?? null, language, words };
    const payload = { org_id: orgId, survey_id: surveyId, ...test };
    await enqueue(tx, [{ task: 'sends.test', payload }]);
    const target = { kind: 'survey', id: surveyId };
    await recordAct(tx, { orgId, actor, act: 'survey.test_mailed', target });
    return { email, language };
  });
}

export async function sendTestToMember(
  tools: { db: Db; progress: Pick<SendProgress, 'watch'> },
  editor: Writer,
  request: TestMailRequest,
): Promise<FlashNotice> {
  const testId = randomUUID();
  const watch = tools.progress.watch(testId);
  try {
    await requestTestMail(tools, editor, { ...request, testId });
    const outcome = await watch.next(maxWaitMs);
    const isFailed = outcome !== undefined && outcome !== sent;
    if (isFailed) return { kind: 'failed', text: `The test email was not sent: ${outcome}` };
    const text = `Test email ${outcome === sent ? 'sent' : 'on its way'} to ${request.email}.`;
    return { kind: 'fine', text: `${text} Its links record nothing.` };
  } finally {
    watch.end();
  }
}

const maxWaitMs = 5000;
const maxReasonLength = 300;
/** Reported for an accepted test, in place of a reason. */
const sent = '';

/** Counts tests in the audit log. The lock of the organization's month serializes calls. */
async function refuseTooMany(tx: Sql, orgId: string) {
  const { mailed, seconds } = one(
    await tx<{ mailed: number; seconds: number }[]>`
      select count(*)::int as mailed,
             greatest(1, ceil(extract(epoch from min(at) + interval '1 hour' - now())))::int as seconds
      from audit_events
      where org_id = ${orgId} and act = 'survey.test_mailed' and at > now() - interval '1 hour'`,
  );
  if (mailed < maxPerHour) return;
  throw new Refusal('rate_limited', `an organization can send ${maxPerHour} test emails per hour`, {
    code: 'too_many_test_mails',
    retryInSeconds: seconds,
  });
}

type Reader = AddressedPerson & { id: string; email: string };

/** Lists contacts, and people whom an audience would add, by their ids. */
export const listReaders = (
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  ids: readonly string[],
) => sql<Reader[]>`
  select id, email, name, properties
  from contacts
  where org_id = ${orgId} and survey_id = ${surveyId} and id = any (${[...ids]}::uuid[])
  union all
  select p.id, p.email, p.name, ${contactProperties(sql)}
  from people p
  where p.org_id = ${orgId} and p.id = any (${[...ids]}::uuid[])`;

export const findReader = async (sql: Sql, survey: OrgSurvey, id: string) =>
  (await listReaders(sql, survey, [id]))[0];

export type TestTools = {
  db: Db;
  log: Log;
  progress: Pick<SendProgress, 'report'>;
  mailer: { send: (mail: WrittenMail) => Promise<MailOutcome> };
};

/** Throws if the email may be accepted later, so that the queue retries the job. */
export async function sendTestMail(tools: TestTools, job: JobPayloads['sends.test']) {
  const { db, log, progress, mailer } = tools;
  const { org_id, survey_id: surveyId, test_id: id, email, contact_id, language, words } = job;
  const survey = await findSurvey(db, org_id, surveyId);
  const reader = contact_id
    ? await findReader(db, { orgId: org_id, surveyId }, contact_id)
    : exampleReader;
  if (!survey || !reader) return;
  const subject = `[Test] ${words.subject ?? words.question_text}`;
  const { name, properties } = reader;
  const outcome = await mailer.send({
    id,
    org_id,
    email,
    name,
    properties,
    reminder: 0,
    reminds_of: null,
    token: testToken(survey.share_id),
    survey: { ...survey, ...words, subject, language, texts: {} },
    organization: await findMailSender(db, org_id),
  });
  if (outcome.kind === 'accepted') return await progress.report(id, sent);
  const reason = outcome.kind === 'refused' ? outcome.response : outcome.reason;
  await progress.report(id, reason.slice(0, maxReasonLength));
  log.warn({ survey_id: surveyId, outcome: outcome.kind }, 'test email was not sent');
  if (isRetryable(outcome)) {
    throw new TurnedAway(`the mail server did not accept a test email: ${outcome.kind}`);
  }
}
