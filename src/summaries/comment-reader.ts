import { withinMs } from '../lib/async/deadline.ts';
import { isDatabaseAway } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import { runJob } from '../lib/queue/task.ts';
import { createClaims, left } from '../lib/work/claims.ts';
import {
  claimWaiting,
  listOrganizationsWaiting,
  releaseWaiting,
  type WaitingAnalysis,
} from '../responses/waiting-analyses.queries.ts';
import { type AnalystQueue, notBegun } from './analyst-queue.ts';
import { type AnalyzeTools, analyze, tryLater } from './analyze.ts';

/** The name under which analyses are counted among the jobs. */
export const analyzeTask = 'summaries.analyze';

/** Of one organization: enough for all places of the analyst, few enough to give back. */
const limits = { running: 16, claim: 16, ready: 32, known: 48 };
const organizationsAtOnce = 200;
const stopWithinMs = 13_000;
const outage = { begins: 'no comments claimed, trying on', over: 'comments are claimed again' };

export type CommentReaderTools = AnalyzeTools & {
  analystQueue: AnalystQueue;
  /** The lease in whose name comments are claimed. */
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
      const items = await claimWaiting(ofGroup(db, orgId), orgId, claim);
      return { items, hasMore: items.length === claim.atMost };
    },
    release: (orgId, ids) => releaseWaiting(db, orgId, ids, claimer()),
    async run(waiting) {
      const end = await analystQueue.run(waiting.org_id, () => readOne(tools, waiting));
      return end === notBegun ? left : end;
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
    claims.takeNoMore();
    analystQueue.stop();
    await withinMs(claims.stop(), stopWithinMs, () => {});
  }

  return { sweep: claims.sweep, stop };
}

/** An error of our own costs a try; while Postgres is away none is counted. */
async function readOne(tools: CommentReaderTools, waiting: WaitingAnalysis) {
  const { org_id: orgId, id, tries, traceparent, created_at: causedAt } = waiting;
  const own = { ...tools, db: ofGroup(tools.db, orgId) };
  const job = { task: analyzeTask, id, attempt: tries + 1, traceparent, causedAt };
  try {
    await runJob({ log: tools.log, program: 'askback' }, job, () => analyze(own, waiting));
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    await tryLater(own, waiting, { why: 'reading it failed', waitMs: 0 });
  }
}
