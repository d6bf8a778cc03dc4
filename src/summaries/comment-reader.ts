import { enqueue, type NewJob } from '../jobs.ts';
import { withinMs } from '../lib/async/deadline.ts';
import { createSemaphore } from '../lib/async/semaphore.ts';
import { createYieldToRequests, type YieldToRequests } from '../lib/async/yield-to-requests.ts';
import { type Db, isDatabaseAway } from '../lib/db/db.ts';
import { poolForGroup } from '../lib/db/fair-pool.ts';
import type { Log } from '../lib/log/log.ts';
import { runJob } from '../lib/queue/task.ts';
import { createClaims, requeue } from '../lib/work/claims.ts';
import {
  type AnalysisTarget,
  claimWaiting,
  endWaiting,
  listOrganizationsWaiting,
  postponeWaiting,
  releaseWaiting,
  type WaitingAnalysis,
} from '../responses/waiting-analyses.ts';
import type { Analyst } from './analyst.ts';
import { findUnanalyzed, listThemes, saveAnalysis } from './queries.ts';
import { analysisWaitMs } from './rules.ts';
import type { Redact } from './summarize.ts';
import { vocabulary } from './themes.ts';

/** The name under which analyses are counted among the jobs. */
export const analyzeTask = 'summaries.analyze';

/** Of one organization: enough for all places of the analyst, few enough to give back. */
const limits = { running: 16, claim: 16, ready: 32, known: 48 };
const organizationsAtOnce = 200;
const stopWithinMs = 13_000;
const outage = { begins: 'no comments claimed, trying on', over: 'comments are claimed again' };

type CommentReaderTools = AnalyzeTools & {
  analystQueue: AnalystQueue;
  claimer: () => string;
};

export type CommentReader = ReturnType<typeof createCommentReader>;

/** Has the comments analyzed that wait. Those of an organization take turns for the analyst with all others. */
export function createCommentReader(tools: CommentReaderTools) {
  const { db, log, analystQueue, claimer } = tools;
  let lastListed: string | null = null;
  const claims = createClaims<string, WaitingAnalysis, void>({
    log,
    outage,
    limits,
    lease: claimer,
    keyOf: (orgId) => orgId,
    fieldsOf: (orgId) => ({ org_id: orgId }),
    tenantOf: (orgId) => orgId,
    listDue,
    async claim(orgId, claim) {
      const items = await claimWaiting(poolForGroup(db, orgId), orgId, claim);
      return { items, hasMore: items.length === claim.atMost };
    },
    release: (orgId, ids) => releaseWaiting(db, orgId, ids, claimer()),
    async run(waiting) {
      const end = await analystQueue.run(waiting.org_id, () => readOne(tools, waiting));
      return end === notBegun ? requeue : end;
    },
  });

  /** Some organizations at a time, each as often as the others. */
  async function listDue(by: string) {
    const found = await listOrganizationsWaiting(db, {
      after: lastListed,
      atMost: organizationsAtOnce,
      by,
    });
    lastListed = found.length < organizationsAtOnce ? null : found.at(-1)!;
    return found;
  }

  /** Claims no more, gives back what has not begun, and waits a while for the rest. */
  async function stop() {
    claims.stopClaiming();
    analystQueue.stop();
    await withinMs(claims.stop(), stopWithinMs, () => {});
  }

  return { sweep: claims.sweep, stop };
}

/** An error of our own costs a try; while Postgres is away none is counted. */
async function readOne(tools: CommentReaderTools, waiting: WaitingAnalysis) {
  const { org_id: orgId, id, tries, traceparent, created_at: causedAt } = waiting;
  const own = { ...tools, db: poolForGroup(tools.db, orgId) };
  const job = { task: analyzeTask, id, attempt: tries + 1, traceparent, causedAt };
  try {
    await runJob(tools.log, job, () => analyze(own, waiting));
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    await tryLater(own, waiting, { why: 'reading it failed', waitMs: 0 });
  }
}

/** Questions that are put to the analyst at once, and how many places of these are kept for newcomers. */
const atOnce = { slots: 8, reserve: 2 };

/** What a turn comes to that did not come before the process stopped. */
const notBegun = Symbol('the process stops');

type Options = { db: Db; limits?: typeof atOnce; yieldToRequests?: YieldToRequests };

export type AnalystQueue = ReturnType<typeof createAnalystQueue>;

/**
 * Work that needs the analyst: organizations take turns, so that the history or the busy hour of one does
 * not delay another's comment, and requests go before all of it. Jobs that still wait when the process stops go back to the queue.
 */
export function createAnalystQueue(options: Options) {
  const { db, limits = atOnce, yieldToRequests = createYieldToRequests() } = options;
  const slots = createSemaphore(limits);
  const stopping = new AbortController();

  async function run<T>(orgId: string, work: () => Promise<T>): Promise<T | typeof notBegun> {
    let began = false;
    const begin = async () => {
      await yieldToRequests(stopping.signal);
      began = true;
      return await work();
    };
    return await slots.run(orgId, begin, stopping.signal).catch((error: unknown) => {
      if (began || error !== notBegun) throw error;
      return notBegun;
    });
  }

  async function runJob(orgId: string, job: NewJob, work: () => Promise<unknown>) {
    if ((await run(orgId, work)) === notBegun) await enqueue(db, [job]);
  }

  return { run, runJob, stop: () => stopping.abort(notBegun) };
}

type AnalyzeTools = { db: Db; log: Log; analyst: Analyst; redact: Redact };

/** A comment to be analyzed, after so many tries; `asked_at` when it is asked for again. */
export type AnalysisRequest = {
  org_id: string;
  response_id: string;
  tries: number;
  asked_at?: string | null;
};

/**
 * Fills in what can be read out of one comment, once. An analyst that cannot answer now is asked again
 * later, twice as late each time; the answer itself waits for nothing.
 */
export async function analyze(tools: AnalyzeTools, request: AnalysisRequest) {
  const { db, analyst } = tools;
  const target = targetOf(request);
  const { orgId } = target;
  const remark = await findUnanalyzed(db, target);
  if (!remark) return await endWaiting(db, target);

  const { language, known_names: names, known_addresses: emails } = remark;
  const answer = await analyst.analyze({
    orgId,
    comment: await tools.redact(remark.comment, { orgId, names, emails, language }),
    score: remark.score,
    type: remark.type,
    category: remark.category,
    language,
    themes: vocabulary(await listThemes(db, orgId)),
  });

  if (answer.ok) return await saveAnalysis(db, target, { ...answer.value, provider: analyst.name });
  await tryLater(tools, request, { ...answer, waitMs: answer.later ? answer.waitMs : null });
}

/** Puts it off for at least so long, or gives it up: at once without a time, and after enough tries. */
async function tryLater(
  { db, log }: Pick<AnalyzeTools, 'db' | 'log'>,
  request: AnalysisRequest,
  { why, waitMs: wishedMs }: { why: string; waitMs: number | null },
) {
  const waitMs = wishedMs === null ? null : analysisWaitMs(request.tries, wishedMs);
  if (waitMs !== null) return await postponeWaiting(db, targetOf(request), waitMs);
  log.warn({ response_id: request.response_id, why }, 'an answer stays without analysis');
  await endWaiting(db, targetOf(request));
}

const targetOf = ({ org_id, response_id, asked_at = null }: AnalysisRequest): AnalysisTarget => ({
  orgId: org_id,
  responseId: response_id,
  askedAt: asked_at,
});
