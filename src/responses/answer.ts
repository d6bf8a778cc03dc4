import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { listErased } from '../contacts/erase.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { limitAddress } from '../keys/authenticate.ts';
import { createBatch } from '../lib/async/batch.ts';
import { withinMs } from '../lib/async/deadline.ts';
import { type Db, inTransaction, type Sql, violates } from '../lib/db/db.ts';
import { inGroup, serviceWork } from '../lib/db/fair-pool.ts';
import { enqueueSpan } from '../lib/queue/task.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { inSpan } from '../lib/tracing/spans.ts';
import { answered, skipped } from '../signals.ts';
import { categoryOf, type SurveyType } from '../survey-types.ts';
import { completeIfAnswered } from '../surveys/lifecycle.ts';
import { lockForLastResponse } from '../surveys/queries.ts';
import type { OwnDeliveries } from '../webhooks/emit.ts';
import {
  type NewAnswer,
  type NewResponse,
  type RecordedAnswer,
  recordAnswers,
  recordUnderLock,
  type SurveyLink,
} from './answer.queries.ts';
import { type Excerpt, eventsOf } from './events.ts';
import { checkSubmission, findHoldReason, type Submission } from './rules.ts';

export const maxSharedPerMinute = 300;
/** The limit of `record_responses`. */
const maxGroupSize = 50;
const maxConcurrentGroups = 2;
/** If a group waits this long for a lock, its answers are recorded one by one. */
const groupLockMs = 200;
/** How long the next group waits for a single answer, which may be waiting for a lock. */
const maxSingleWaitMs = 10;
const maxGroupWaitMs = 500;

export type AnswerTools = {
  db: Db;
  record: RecordAnswer;
  deliveries: OwnDeliveries;
  excerpt: Excerpt;
};

/**
 * Checks a submission, decides whether the response goes on hold, and records it with its events, all or nothing. The
 * last response completes the survey. Shareable links are rate-limited by address.
 */
export async function answerSurvey(
  tools: AnswerTools,
  link: SurveyLink,
  submission: Submission & { address: string; language: string },
): Promise<NewResponse> {
  refuseUnlessOpen(link);
  if (link.answered) throw alreadyAnswered();
  const checked = checkSubmission(link.type, submission);
  if (link.contact_id === null) {
    // Counts valid submissions only, per survey.
    const address = `${link.survey_id}:${submission.address}`;
    await limitAddress(tools.db, { scope: 'share', address, quota: maxSharedPerMinute });
  }

  const held = findHoldReason({ ...submission, ...checked, visits: link.visits });
  const untraced: NewResponse = {
    ...checked,
    id: randomUUID(),
    org_id: link.org_id,
    survey_id: link.survey_id,
    contact_id: link.contact_id,
    source: link.contact_id ? 'link' : 'share',
    type: link.type,
    category: categoryOf(link.type, checked.score),
    held_reason: held,
    language: submission.language,
    properties: link.contact_id ? null : await dropErasedProperties(tools.db, link, submission),
    created_at: link.now,
    traceparent: null,
  };
  const { events, later } =
    held === null ? await eventsOf(tools, link, untraced) : { events: [], later: undefined };
  const cause = { traceparent: submission.traceparent, agoMs: 0 };
  return await inSpan(
    cause,
    () => enqueueSpan('webhooks.deliver'),
    async ({ traceparent }) => {
      const response = { ...untraced, traceparent };
      const owner = tools.deliveries.owner();
      const added = { orgId: response.org_id, events, traceparent, owner };
      const analyze = link.analyzes_comments && response.comment !== null && held === null;
      const recorded = await tools
        .record({
          response,
          effects: { added, analyze, later: later && { ...later, traceparent } },
        })
        .catch((error: unknown) => {
          // The contact was deleted in the meantime.
          throw violates(error, 'responses_belong_to_contact') ? notFound('survey') : error;
        });
      if (!recorded) throw alreadyAnswered();
      tools.deliveries.start(added, recorded.emitted ?? []);
      publishAnswered(response, { type: link.type, ...recorded });
      return response;
    },
  );
}

/** Records nothing and returns undefined when the contact has already answered or the survey is closed. */
export type RecordAnswer = (answer: NewAnswer) => Promise<Recorded | undefined>;

type Recorded = Omit<RecordedAnswer, 'id'> & { completed?: boolean };
type Recording = ReturnType<RecordAnswer>;
type WaitingAnswer = NewAnswer & { alone: () => Recording };

/**
 * Batches answers. An answer that arrives while others are being recorded joins the next group, in which every
 * organization has a share. Answers that a group skips, or that make it fail, are recorded alone, so that each has its
 * own outcome and a lock of one organization never delays another.
 */
export function createAnswerRecorder(db: Db): RecordAnswer {
  const groups = createBatch<WaitingAnswer, Recording>(
    {
      keyOf: ({ response }) => response.org_id,
      write: (group) => recordGroup(db, group),
      writeKey: async (group) => group.map(({ alone }) => alone()),
    },
    { maxItems: maxGroupSize, concurrency: maxConcurrentGroups },
  );
  return async (answer) => {
    if (answer.effects.later) return await recordAlone(db, answer);
    const alone = AsyncLocalStorage.bind(() => recordAlone(db, answer));
    return await groups.add({ ...answer, alone });
  };
}

async function recordGroup(db: Db, group: readonly WaitingAnswer[]): Promise<Recording[]> {
  const [first, second] = group;
  if (first && !second) {
    const recording = first.alone();
    await withinMs(recording, maxSingleWaitMs, () => undefined).catch(() => {});
    return [recording];
  }
  const recorded = inGroup(serviceWork, () => recordAnswers(db, group, groupLockMs), {
    kind: 'answers',
    waitMs: maxGroupWaitMs,
  }).then(
    (rows) => new Map(rows.map((row) => [row.id, row])),
    () => new Map<string, RecordedAnswer>(),
  );
  await withinMs(recorded, maxGroupWaitMs, () => undefined);
  return group.map(
    async ({ response, alone }) => (await recorded).get(response.id) ?? (await alone()),
  );
}

/**
 * Records an answer as a group of one, or else under the lock of its survey. The three statements are pipelined in one
 * round trip, and each sees the effects of the earlier ones.
 */
async function recordAlone(db: Db, answer: NewAnswer): Promise<Recorded | undefined> {
  const { later } = answer.effects;
  const [recorded] = later ? [] : await recordAnswers(db, [answer], 0);
  if (recorded) return recorded;
  const { org_id: orgId, survey_id: surveyId, traceparent } = answer.response;
  return await inTransaction(db, async (tx) => {
    const [, row, completed] = await Promise.all([
      lockForLastResponse(tx, orgId, surveyId),
      recordUnderLock(tx, answer),
      completeIfAnswered(tx, { orgId, traceparent }, surveyId),
    ]);
    if (row && later) await enqueue(tx, [later]);
    return row && { ...row, completed };
  });
}

/** A survey that was completed by its last answer still takes answers through its shareable link. */
export function refuseUnlessOpen({ status, completed_by }: SurveyLink) {
  if (status === 'draft') {
    throw new Refusal('invalid', 'this survey is not open yet', { code: 'survey_draft' });
  }
  if (completed_by === 'hand') {
    throw new Refusal('invalid', 'this survey is closed', { code: 'survey_closed' });
  }
}

const alreadyAnswered = () =>
  new Refusal('conflict', 'this survey has already been answered', { code: 'already_answered' });

function publishAnswered(
  { category, held_reason, ...response }: NewResponse,
  { type, completed, skipped: deliveries }: Recorded & { type: SurveyType },
) {
  const events = [
    'response.received',
    ...(category === 'detractor' ? ['detractor.detected'] : []),
    ...(completed ? ['survey.completed'] : []),
  ];
  answered.publish({
    orgId: response.org_id,
    surveyId: response.survey_id,
    responseId: response.id,
    type,
    category,
    held: held_reason,
    events: held_reason === null ? events : [],
    traceparent: response.traceparent,
  });
  if (deliveries > 0) skipped.publish({ deliveries });
}

type EmbedProperties = Readonly<Record<string, unknown>> | null;

/** Removes properties that contain the address of an erased person. */
export async function dropErasedProperties(
  sql: Sql,
  { org_id: orgId }: { org_id: string },
  { properties }: { properties: EmbedProperties },
) {
  const entries = Object.entries(properties ?? {}).map((entry) => ({
    entry,
    keys: (entry.join(' ').match(addressPattern) ?? []).map(addressKey),
  }));
  const keys = entries.flatMap((each) => each.keys);
  if (keys.length === 0) return properties;
  const erased = await listErased(sql, orgId, keys);
  const rest = entries.filter((each) => !each.keys.some((key) => erased.has(key)));
  return rest.length === 0 ? null : Object.fromEntries(rest.map(({ entry }) => entry));
}

const addressPattern = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/g;
