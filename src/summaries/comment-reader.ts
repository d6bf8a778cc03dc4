import { withinMs } from '../lib/async/deadline.ts';
import { createFairSweep } from '../lib/async/fair-sweep.ts';
import { isDatabaseAway } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import { runJob } from '../lib/queue/task.ts';
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

/** Claimed comments of one organization: enough for all places of the analyst, few enough to give back. */
const claimedAtMost = 16;
const organizationsAtOnce = 200;
const stopWithinMs = 13_000;

export type CommentReaderTools = AnalyzeTools & {
  analystQueue: AnalystQueue;
  /** The lease in whose name comments are claimed: when it ends, they are free again. */
  claimer: () => string;
};

export type CommentReader = ReturnType<typeof createCommentReader>;

/** The comments of one organization that this process has claimed, each until it has ended. */
type Reading = {
  orgId: string;
  claimed: Map<string, Promise<void>>;
  claiming: Promise<void> | undefined;
  /** Whether the last claim may have left something that is due. */
  hasMore: boolean;
};

/**
 * Has the comments analyzed that wait. Each organization with some has claims of its own, of a few at a time,
 * and what is claimed takes turns for the analyst with that of others: what else waits costs them nothing.
 * A process that dies gives up its claims, and those of a claim that failed are made again.
 */
export function createCommentReader(tools: CommentReaderTools) {
  const readings = new Map<string, Reading>();
  const forEachWaiting = createFairSweep((orgId: string) => orgId);
  let [lastListed, stopping]: [string | null, boolean] = [null, false];

  /** Finds organizations with something due, some at a time, each as often as the others. */
  async function sweep() {
    if (stopping) return;
    const list = { after: lastListed, atMost: organizationsAtOnce, by: tools.claimer() };
    const found = await listOrganizationsWaiting(tools.db, list);
    lastListed = found.length < organizationsAtOnce ? null : found.at(-1)!;
    await forEachWaiting(found, (orgId) => read(readingOf(orgId)));
  }

  function readingOf(orgId: string) {
    const reading = readings.get(orgId) ?? newReading(orgId);
    readings.set(orgId, reading);
    return reading;
  }

  /** Claims what is due, as far as there is room for it; one claim at a time, so that each knows of those before. */
  function read(reading: Reading): Promise<void> {
    reading.claiming ??= claim(reading)
      .catch((err: unknown) => tools.log.debug({ err }, 'no comments claimed, trying on'))
      .finally(() => {
        reading.claiming = undefined;
        dropEmpty(reading);
      });
    return reading.claiming;
  }

  async function claim(reading: Reading) {
    const { orgId, claimed } = reading;
    do {
      const atMost = claimedAtMost - claimed.size;
      if (stopping || atMost < claimedAtMost / 2) return;
      const by = tools.claimer();
      const found = await claimWaiting(ofGroup(tools.db, orgId), orgId, {
        by,
        atMost,
        known: claimed.keys(),
      });
      for (const waiting of found) begin(reading, waiting, by);
      reading.hasMore = found.length === atMost;
    } while (reading.hasMore);
  }

  function begin(reading: Reading, waiting: WaitingAnalysis, by: string) {
    const { org_id: orgId, response_id: id } = waiting;
    const ended = tools.analystQueue
      .run(orgId, () => readOne(tools, waiting))
      .then((end) => (end === notBegun ? releaseWaiting(tools.db, orgId, [id], by) : undefined))
      .catch(() => {}) // it is claimed again: by this process, or by others when its lease ends
      .finally(() => {
        reading.claimed.delete(id);
        if (reading.hasMore && !stopping) void read(reading);
        dropEmpty(reading);
      });
    reading.claimed.set(id, ended);
  }

  function dropEmpty({ orgId, claimed, claiming }: Reading) {
    if (claimed.size === 0 && !claiming) readings.delete(orgId);
  }

  /** Claims no more, gives back what has not begun, and waits a while for the rest. */
  async function stop() {
    stopping = true;
    tools.analystQueue.stop();
    const all = [...readings.values()];
    const ended = async () => {
      await Promise.all(all.map(({ claiming }) => claiming));
      await Promise.all(all.flatMap(({ claimed }) => [...claimed.values()]));
    };
    await withinMs(ended(), stopWithinMs, () => {});
  }

  return { sweep, stop };
}

const newReading = (orgId: string): Reading => ({
  orgId,
  claimed: new Map(),
  claiming: undefined,
  hasMore: true,
});

/** An error of our own costs a try; while Postgres is away none is counted. */
async function readOne(tools: CommentReaderTools, waiting: WaitingAnalysis) {
  const { org_id: orgId, response_id: id, tries, traceparent, created_at: causedAt } = waiting;
  const own = { ...tools, db: ofGroup(tools.db, orgId) };
  const job = { task: analyzeTask, id, attempt: tries + 1, traceparent, causedAt };
  try {
    await runJob({ log: tools.log, program: 'askback' }, job, () => analyze(own, waiting));
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    await tryLater(own, waiting, { why: 'reading it failed', waitMs: 0 });
  }
}
