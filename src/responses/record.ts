import { randomUUID } from 'node:crypto';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { enqueueSpan } from '../lib/tracing/conventions.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { categoryOf, type SurveyType } from '../scores.ts';
import { answered, skipped } from '../signals.ts';
import { completeIfAnswered, holdForCompletion } from '../surveys/complete.ts';
import {
  detractorDetected,
  type EventType,
  responseReceived,
  type WebhookEvent,
} from '../webhooks/events.ts';
import { insertAnswer, type NewAnswer } from './record.queries.ts';

/**
 * With no more contacts than this left to answer, an answer may be the last one and takes the survey's
 * lock. More answers than this of one survey are never under way at once.
 */
const mayBeLast = 1000;

export type Given = {
  orgId: string;
  surveyId: string;
  surveyType: SurveyType;
  /** Null through the shareable link. */
  contact: { id: string; openContacts: number } | null;
  score: number;
  comment: string | null;
  /** The beginning of the comment with nobody recognizable in it; only a detractor's is used. */
  excerpt: string | null;
  heldReason: string | null;
  traceparent: string | null;
  at: Date;
};

/**
 * Records an answer with its events, and completes the survey if it was the last: all of it or nothing.
 * Gives nothing back when the contact had answered already or the survey takes no answers any more.
 */
export async function recordAnswer({ db, pump }: { db: Db; pump: () => void }, given: Given) {
  const cause = { traceparent: given.traceparent, agoMs: 0 };
  return await inSpan(
    cause,
    () => enqueueSpan('webhooks.deliver'),
    async ({ traceparent }) => {
      const answer = { ...newAnswer(given), traceparent };
      const events = given.heldReason === null ? eventsOf(answer, given) : [];
      const recorded = await write(db, { answer, events, given });
      if (!recorded) return undefined;
      pump();
      tellOf({ answer, events, given }, recorded);
      return recorded;
    },
  );
}

type Written = { answer: NewAnswer; events: readonly WebhookEvent[]; given: Given };

type Recorded = { id: string; skipped: number; completed?: boolean };

async function write(db: Db, { answer, events, given }: Written): Promise<Recorded | undefined> {
  const lastOnes = given.contact !== null && given.contact.openContacts <= mayBeLast;
  return lastOnes && given.heldReason === null
    ? await inTransaction(db, (tx) => recordPerhapsLast(tx, answer, events))
    : await insertAnswer(db, answer, events);
}

function tellOf({ answer, events, given }: Written, recorded: Recorded) {
  const types = events.map(({ type }) => type);
  if (recorded.completed) types.push('survey.completed');
  answered.publish(factsOf(answer, given, types));
  if (recorded.skipped > 0) skipped.publish({ deliveries: recorded.skipped });
}

function factsOf(answer: NewAnswer, given: Given, events: readonly EventType[]) {
  return {
    orgId: answer.org_id,
    surveyId: answer.survey_id,
    responseId: answer.id,
    type: given.surveyType,
    category: answer.category,
    held: answer.held_reason,
    events,
    traceparent: answer.traceparent,
  };
}

function newAnswer(given: Given): NewAnswer {
  return {
    id: randomUUID(),
    org_id: given.orgId,
    survey_id: given.surveyId,
    contact_id: given.contact?.id ?? null,
    source: given.contact ? 'link' : 'share',
    score: given.score,
    category: categoryOf(given.surveyType, given.score),
    comment: given.comment,
    held_reason: given.heldReason,
    traceparent: given.traceparent,
    created_at: given.at,
  };
}

type Told = Pick<Given, 'surveyId' | 'surveyType' | 'score' | 'comment' | 'excerpt' | 'at'>;

/** What subscribers are told of an answer that counts. */
export function eventsOf(answer: Pick<NewAnswer, 'id' | 'category'>, given: Told) {
  const { surveyId, surveyType, score, comment, excerpt, at } = given;
  const told = { surveyId, responseId: answer.id, surveyType, score, at };
  const received = responseReceived({ ...told, comment });
  if (answer.category !== 'detractor') return [received];
  return [received, detractorDetected({ ...told, excerpt })];
}

/**
 * Statements of a transaction travel together: the lock, the answer and the look whether it was the
 * last cost one round trip. Each sees what those before it did.
 */
async function recordPerhapsLast(
  tx: Sql,
  answer: NewAnswer,
  events: Parameters<typeof insertAnswer>[2],
) {
  const { org_id, survey_id, traceparent } = answer;
  const [, recorded, completed] = await Promise.all([
    holdForCompletion(tx, org_id, survey_id),
    insertAnswer(tx, answer, events),
    completeIfAnswered(tx, { orgId: org_id, traceparent }, survey_id),
  ]);
  return recorded && { ...recorded, completed };
}
