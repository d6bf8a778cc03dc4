import { randomInt, randomUUID } from 'node:crypto';
import { type Actor, commandActor, recordAct } from '../audit/acts.ts';
import { saveContacts } from '../contacts/queries.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import { issueKey } from '../keys/manage.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { hashPassword } from '../members/password.ts';
import { hasMembers, insertMember, saveRole } from '../members/queries.ts';
import { insertOrganizationOnce } from '../organizations/queries.ts';
import { insertImported } from '../responses/import.ts';
import { insertWaitingSince } from '../responses/waiting-analyses.ts';
import type { Category, SurveyType } from '../survey-types.ts';
import { addSurvey } from '../surveys/lifecycle.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { insertTag } from '../tags/tags.ts';
import { newSecret } from '../webhooks/deliver.ts';
import { detractorDetected, responseReceived, type WebhookEvent } from '../webhooks/events.ts';
import {
  insertPastDeliveries,
  insertPastWebhook,
  type PastAttempt,
  type PastDelivery,
} from '../webhooks/replay.ts';
import { type DemoStory, type DemoSurvey, makeStory, storyDays, surveys, tags } from './story.ts';

export const demoOrganization = 'd3300000-0000-4000-8000-000000000001';

const sender = { from_name: 'Larkspur', from_email: 'feedback@example.com' };

type DemoTools = { db: Db; secrets: Pick<Secrets, 'seal'> };

export type FilledDemo = {
  readKey: string;
  writeKey: string;
  /** None where the demo's address has an account already. */
  signIn: DemoSignIn | null;
  survey: { id: string; share_id: string };
};

/**
 * Fills one organization with half a year of feedback, all of it or nothing; nothing when it is there. The
 * running service reads the comments, and then writes the summaries of the months.
 */
export async function fillDemo(
  { db, secrets }: DemoTools,
  now: Date,
): Promise<FilledDemo | undefined> {
  const password = await makeDemoPassword();
  return await inTransaction(db, async (tx) => {
    const organization = await insertOrganizationOnce(tx, {
      id: demoOrganization,
      name: 'Larkspur (demo)',
      ai_enabled: true,
      created_at: daysBefore(now, storyDays + 1),
    });
    if (!organization) return undefined;
    const orgId = organization.id;

    const filled: FilledDemo['survey'][] = [];
    for (const survey of surveys) filled.push(await fillSurvey(tx, orgId, { survey, now }));
    await insertWaitingSince(tx, orgId, daysBefore(now, storyDays + 1));
    await enqueue(tx, [
      ...monthsBefore(now).map((month) => summaryJob(orgId, month)),
      { task: 'summaries.month', payload: { org_id: orgId, tries: 0 } },
    ]);
    await addDemoWebhook(tx, orgId, { secrets, now });
    for (const tag of tags) await insertTag(tx, orgId, tag);
    const read = await issueKey(tx, orgId, { name: 'demo, reading', permission: 'read' });
    await recordAct(tx, { orgId, actor: commandActor(), act: 'demo.filled' });
    const write = await issueKey(tx, orgId, { name: 'demo, writing', permission: 'write' });
    const signIn = await addDemoMember(tx, orgId, password);
    return { readKey: read.key, writeKey: write.key, signIn, survey: filled[0]! };
  });
}

const summarizedMonths = 4;
/** For the comments to be read, by the job of a summary. */
const mostWaits = 12;

/** Whole months before the last, which the service summarizes by itself. The organization's clock is UTC. */
function monthsBefore(now: Date) {
  const monthAgo = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));
  return Array.from({ length: summarizedMonths }, (_, n) => summarizedMonths + 1 - n).map(
    (months) => ({ start: monthAgo(months), end: monthAgo(months - 1) }),
  );
}

const summaryJob = (orgId: string, { start, end }: { start: Date; end: Date }): NewJob => ({
  task: 'summaries.make',
  payload: {
    org_id: orgId,
    summary_id: randomUUID(),
    actor: commandActor(),
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    waits: mostWaits,
  },
});

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * 86_400_000);

async function fillSurvey(
  tx: Sql,
  orgId: string,
  { survey, now }: { survey: DemoSurvey; now: Date },
): Promise<FilledDemo['survey']> {
  const { name, type, audience, question } = survey;
  const made = await addSurvey(tx, orgId, {
    name,
    type,
    audience,
    ...sender,
    question_text: question,
    reply_to: sender.from_email,
    subject: null,
    language: 'en',
    status: 'active',
    created_at: daysBefore(now, storyDays + 1),
  });
  await fillContacts(tx, { orgId, surveyId: made.id }, makeStory(survey, now));
  return made;
}

async function fillContacts(tx: Sql, survey: OrgSurvey, { contacts, anonymous }: DemoStory) {
  const rows = contacts.map(({ answer, ...contact }) => ({
    ...contact,
    status: answer
      ? ('responded' as const)
      : contact.sent_at
        ? ('sent' as const)
        : ('pending' as const),
    responded_at: answer?.created_at ?? null,
  }));
  const saved = await saveContacts(tx, survey, rows);
  const idOf = new Map(saved.map(({ id, email }) => [email, id]));

  const answers = contacts.flatMap(({ email, answer }) =>
    answer ? [{ ...answer, contact_id: idOf.get(email) ?? null }] : [],
  );
  await insertImported(tx, survey, answers);
  await insertImported(
    tx,
    survey,
    anonymous.map((answer) => ({ ...answer, contact_id: null })),
  );
}

type DemoSignIn = { email: string; password: string };

type DemoPassword = { password: string; passwordHash: string };

const email = 'demo@example.com';
/** Without letters and digits that look alike: it is read from a terminal. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
const groups = 4;
const groupLength = 4;

/** A password made up for this demo. Hashing it takes a while, which no transaction should wait for. */
async function makeDemoPassword(): Promise<DemoPassword> {
  const letter = () => letters[randomInt(letters.length)];
  const group = () => Array.from({ length: groupLength }, letter).join('');
  const password = Array.from({ length: groups }, group).join('-');
  return { password, passwordHash: await hashPassword(password, { address: 'demo' }) };
}

async function addDemoMember(
  tx: Sql,
  orgId: string,
  { password, passwordHash }: DemoPassword,
): Promise<DemoSignIn | null> {
  const isOperator = !(await hasMembers(tx));
  const member = await insertMember(tx, { email, name: 'Demo', passwordHash, isOperator });
  if (!member) return null;
  await saveRole(tx, { orgId, memberId: member.id, role: 'owner' });
  const actor: Actor = commandActor();
  const target = { kind: 'member', id: member.id };
  await recordAct(tx, { orgId, actor, act: 'member.joined', target, details: { role: 'owner' } });
  return { email, password };
}

/** A name that is reserved for examples: nothing is ever posted to anybody. */
const url = 'https://crm.larkspur.example/hooks/feedback';
const answersNotified = 120;
/** The newest answers found it switched off, after the failures before them. */
const skippedAnswers = 9;
const failedDeliveries = 3;
const retryMs = 5_000;
const reason = `${failedDeliveries} deliveries in a row failed, the last with: status 503`;
const unavailable = '<html><h1>503 Service Unavailable</h1></html>';

type DemoWebhook = { secrets: Pick<Secrets, 'seal'>; now: Date };

/** A webhook that has delivered for weeks, until its receiver was down: what to do about it can be tried. */
async function addDemoWebhook(tx: Sql, orgId: string, { secrets, now }: DemoWebhook) {
  const answers = await listNewestAnswers(tx, orgId, answersNotified);
  const events = answers.flatMap(eventsOf);
  const skipped = events.filter(({ at }) => at >= answers.at(-skippedAnswers)!.created_at).length;
  const failedFrom = events.length - skipped - failedDeliveries;
  const deliveries = events.map((event, place) => {
    if (place >= failedFrom + failedDeliveries) return pastDelivery(event, place, 'skipped');
    return pastDelivery(event, place, place >= failedFrom ? 'failed' : 'delivered');
  });
  const id = randomUUID();
  const last = deliveries.findLast(({ status }) => status === 'delivered');
  const lastFailed = deliveries.findLast(({ status }) => status === 'failed');
  await insertPastWebhook(tx, orgId, {
    id,
    url,
    events: ['response.received', 'detractor.detected'],
    description: 'Customer records',
    secret: secrets.seal({ owner: orgId, id }, newSecret()),
    created_at: answers[0]?.created_at ?? now,
    deactivated_at: lastFailed?.created_at ?? now,
    deactivated_reason: reason,
    failure_count: failedDeliveries,
    last_delivery_at: last?.delivered_at ?? null,
  });
  await insertPastDeliveries(tx, { orgId, webhookId: id }, deliveries);
}

type PastEvent = WebhookEvent & { at: Date };

/** No comment of the demo has a name in it: its excerpt is the comment. */
function eventsOf(answer: PastAnswer): PastEvent[] {
  const { id: responseId, survey_id: surveyId, type, score, comment, created_at: at } = answer;
  const facts = { surveyId, responseId, surveyType: type, score, at };
  const received = { ...responseReceived({ ...facts, comment }), at };
  if (answer.category !== 'detractor') return [received];
  return [received, { ...detractorDetected({ ...facts, excerpt: comment }), at }];
}

/** Every thirteenth needed a second attempt. */
const secondAttemptEvery = 13;

function pastDelivery(
  { type, body, at }: PastEvent,
  place: number,
  status: PastDelivery['status'],
): PastDelivery {
  const tries =
    status === 'failed' ? 2 : status === 'skipped' ? 0 : place % secondAttemptEvery ? 0 : 1;
  const failed = Array.from({ length: tries }, (_, number): PastAttempt => {
    const then = new Date(at.getTime() + number * retryMs);
    return { status_code: 503, response_body: unavailable, duration_ms: 210 + place, at: then };
  });
  const delivery = { event: type, body, status, created_at: at, failed };
  const none = { delivered_at: null, status_code: null, duration_ms: null, response_body: null };
  if (status === 'skipped') return { ...delivery, ...none };
  if (status === 'failed') {
    return { ...delivery, ...none, status_code: 503, response_body: unavailable };
  }
  const duration_ms = 38 + ((place * 29) % 140);
  const delivered_at = new Date(at.getTime() + tries * retryMs + duration_ms);
  return { ...delivery, delivered_at, status_code: 200, duration_ms, response_body: 'ok' };
}

type PastAnswer = {
  id: string;
  survey_id: string;
  type: SurveyType;
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
};

/** The newest responses, oldest first: the demo's webhook is notified of them. */
async function listNewestAnswers(sql: Sql, orgId: string, limit: number) {
  return await sql<PastAnswer[]>`
    select *
    from (
      select r.id, r.survey_id, s.type, r.score, r.category, r.comment, r.created_at
      from responses r
      join surveys s on s.org_id = r.org_id and s.id = r.survey_id
      where r.org_id = ${orgId}
      order by r.created_at desc, r.id desc
      limit ${limit}
    ) newest
    order by created_at, id`;
}
