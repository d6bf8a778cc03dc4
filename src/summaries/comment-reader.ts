import { enqueue, type NewJob } from '../jobs.ts';
import { withinMs } from '../lib/async/deadline.ts';
import { createSemaphore } from '../lib/async/semaphore.ts';
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

/** Name of analyses in the job metrics. */
export const analyzeTask = 'summaries.analyze';

/** Per organization: enough to fill all slots of the analyst. */
const limits = { running: 16, claim: 16, ready: 32, known: 48 };
const organizationsAtOnce = 200;
const stopWithinMs = 13_000;
const outage = { begins: 'cannot claim comments, retrying', over: 'claiming comments again' };

type CommentReaderTools = AnalyzeTools & {
  analystQueue: AnalystQueue;
  claimer: () => string;
};

/** Analyzes waiting comments. Organizations take turns. */
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
      return end === notStarted ? requeue : end;
    },
  });

  async function listDue(by: string) {
    const organizations = await listOrganizationsWaiting(db, {
      after: lastListed,
      atMost: organizationsAtOnce,
      by,
    });
    lastListed = organizations.length < organizationsAtOnce ? null : organizations.at(-1)!;
    return organizations;
  }

  async function stop() {
    claims.stopClaiming();
    analystQueue.stop();
    await withinMs(claims.stop(), stopWithinMs, () => {});
  }

  return { sweep: claims.sweep, stop };
}

/** An internal error counts as a try, unless Postgres is away. */
async function readOne(tools: CommentReaderTools, waiting: WaitingAnalysis) {
  const { org_id: orgId, id, tries, traceparent, created_at: causedAt } = waiting;
  const own = { ...tools, db: poolForGroup(tools.db, orgId) };
  const job = { task: analyzeTask, id, attempt: tries + 1, traceparent, causedAt };
  try {
    await runJob(tools.log, job, () => analyze(own, waiting));
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    await tryLater(own, waiting, { why: 'internal error', waitMs: 0 });
  }
}

/** Concurrent requests to the analyst, and slots reserved for newly arriving organizations. */
const atOnce = { slots: 8, reserve: 2 };

const notStarted = Symbol('the process stops');

export type AnalystQueue = ReturnType<typeof createAnalystQueue>;

/**
 * Shares the analyst fairly between organizations. Jobs that have not started when the process stops go back to the
 * queue.
 */
export function createAnalystQueue({ db, limits = atOnce }: { db: Db; limits?: typeof atOnce }) {
  const slots = createSemaphore(limits);
  const stopping = new AbortController();

  async function run<T>(orgId: string, work: () => Promise<T>): Promise<T | typeof notStarted> {
    let started = false;
    const start = () => {
      started = true;
      return work();
    };
    return await slots.run(orgId, start, stopping.signal).catch((error: unknown) => {
      if (started || error !== notStarted) throw error;
      return notStarted;
    });
  }

  async function runJob(orgId: string, job: NewJob, work: () => Promise<unknown>) {
    if ((await run(orgId, work)) === notStarted) await enqueue(db, [job]);
  }

  return { run, runJob, stop: () => stopping.abort(notStarted) };
}

type AnalyzeTools = { db: Db; log: Log; analyst: Analyst; redact: Redact };

/** `asked_at` is set if an earlier analysis is to be replaced. */
export type AnalysisRequest = {
  org_id: string;
  response_id: string;
  tries: number;
  asked_at?: string | null;
};

/** Analyzes one comment, with exponential backoff while the analyst is unavailable. */
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

/** Gives up without `waitMs`, or after the last try. */
async function tryLater(
  { db, log }: Pick<AnalyzeTools, 'db' | 'log'>,
  request: AnalysisRequest,
  { why, waitMs: retryAfterMs }: { why: string; waitMs: number | null },
) {
  const waitMs = retryAfterMs === null ? null : analysisWaitMs(request.tries, retryAfterMs);
  if (waitMs !== null) return await postponeWaiting(db, targetOf(request), waitMs);
  log.warn({ response_id: request.response_id, why }, 'a comment was not analyzed');
  await endWaiting(db, targetOf(request));
}

const targetOf = ({ org_id, response_id, asked_at = null }: AnalysisRequest): AnalysisTarget => ({
  orgId: org_id,
  responseId: response_id,
  askedAt: asked_at,
});
