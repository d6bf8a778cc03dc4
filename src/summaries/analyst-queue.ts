import { enqueue, type NewJob } from '../jobs.ts';
import { createSemaphore } from '../lib/async/semaphore.ts';
import { createYieldToRequests, type YieldToRequests } from '../lib/async/yield-to-requests.ts';
import type { Db } from '../lib/db/db.ts';

/** Questions that are put to the analyst at once, and how many places of these are kept for newcomers. */
const atOnce = { slots: 8, reserve: 2 };

/** What a turn comes to that did not come before the process stopped. */
export const notBegun = Symbol('the process stops');

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
