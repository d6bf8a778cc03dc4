import { AsyncLocalStorage } from 'node:async_hooks';
import { createBatchByKey } from '../lib/async/batch-by-key.ts';
import { withinMs } from '../lib/async/deadline.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inGroup } from '../lib/db/fair-pool.ts';
import { serviceWork } from '../lib/db/pool-slots.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { completeIfAnswered } from '../surveys/lifecycle.ts';
import { lockForLastResponse } from '../surveys/queries.ts';
import type { EmittedDelivery } from '../webhooks/emit.cte.ts';
import {
  insertResponse,
  type NewResponse,
  type ResponseEffects,
  recordResponse,
} from './answer.queries.ts';
import { type AnswerOfGroup, recordTogether } from './answer-group.queries.ts';

/** As many as `record_responses` takes. */
const mostInGroup = 50;
const groupsAtOnce = 2;
/** A group waits no longer for a lock: then its answers are recorded one by one. */
const groupLockMs = 200;
/** How long others wait for an answer that is recorded alone. It may wait for a lock. */
const aheadMs = 10;
/** How long they wait for a group, and a group for its connection. */
const groupAheadMs = 500;

export type RecordedAnswer = {
  skipped: number;
  emitted: EmittedDelivery[] | null;
  completed?: boolean;
};

/** Undefined when the contact has answered already or the survey takes no answers any more: nothing is recorded. */
export type RecordAnswer = (
  response: NewResponse,
  effects: ResponseEffects,
) => Promise<RecordedAnswer | undefined>;

type Recording = ReturnType<RecordAnswer>;

type WaitingAnswer = AnswerOfGroup & { alone: () => Recording };

/**
 * Records answers. One that comes while others are being recorded waits until they are committed and goes with all
 * that came meanwhile, in one call, in which each organization has its share; else it goes at once and alone. Answers
 * that a group leaves out or fails with go alone as well, each in the turn of its organization: each has its own
 * outcome and its own error, and a lock of one organization holds up no other.
 */
export function createAnswerRecorder(db: Db): RecordAnswer {
  const answers = createBatchByKey<WaitingAnswer, Recording>(
    {
      keyOf: ({ response }) => response.org_id,
      writeShared: (group) => recordGroup(db, group),
      writeOwn: async (group) => group.map(({ alone }) => alone()),
    },
    { most: mostInGroup, atOnce: groupsAtOnce },
  );
  return async (response, effects) => {
    const alone = AsyncLocalStorage.bind(() => recordAlone(db, response, effects));
    return await answers.add({ response, effects, alone });
  };
}

async function recordGroup(db: Db, group: readonly WaitingAnswer[]): Promise<Recording[]> {
  const [first, second] = group;
  if (first && !second) {
    const recording = first.alone();
    await withinMs(recording, aheadMs, () => undefined).catch(() => {});
    return [recording];
  }
  const recorded = inGroup(serviceWork, () => recordTogether(db, group, groupLockMs), {
    kind: 'answers',
    waitMs: groupAheadMs,
  }).then(
    (rows) => new Map(rows.map(({ id, ...outcome }) => [id, outcome])),
    () => new Map<string, RecordedAnswer>(),
  );
  await withinMs(recorded, groupAheadMs, () => undefined);
  return group.map(
    async ({ response, alone }) => (await recorded).get(response.id) ?? (await alone()),
  );
}

/** In one call, unless the answer may be the survey's last or takes the place of one on hold. */
async function recordAlone(db: Db, response: NewResponse, effects: ResponseEffects) {
  for (let tries = 0; tries < 2; tries++) {
    const { outcome, ...recorded } = await recordResponse(db, response, effects);
    if (outcome === 'recorded') return recorded;
    if (outcome === 'refused') return undefined;
    if (outcome !== 'again') break;
  }
  return await inTransaction(db, (tx) => recordPerhapsLast(tx, response, effects));
}

/**
 * The lock, the response and the check whether it was the last travel together, in one round trip. Each
 * statement sees what those before it did.
 */
async function recordPerhapsLast(tx: Sql, response: NewResponse, effects: ResponseEffects) {
  const { org_id: orgId, survey_id: surveyId, traceparent } = response;
  const [, recorded, completed] = await Promise.all([
    lockForLastResponse(tx, orgId, surveyId),
    insertResponse(tx, response, effects),
    completeIfAnswered(tx, { orgId, traceparent }, surveyId),
  ]);
  return recorded && { ...recorded, completed };
}
