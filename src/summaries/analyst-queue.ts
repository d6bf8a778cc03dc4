import { enqueue, type NewJob } from '../jobs.ts';
import { createFairSlots } from '../lib/async/fair-slots.ts';
import { createGiveWay, type GiveWay } from '../lib/async/give-way.ts';
import type { Db } from '../lib/db/db.ts';

/** Questions that are put to the analyst at once, and how many places of these are kept for newcomers. */
const atOnce = { total: 8, reserve: 2 };

type Options = { db: Db; limits?: typeof atOnce; giveWay?: GiveWay };

export type AnalystQueue = ReturnType<typeof createAnalystQueue>;

/**
 * Jobs that need the analyst: organizations take turns, so that the history or the busy hour of one does
 * not delay another's comment, and requests go before all of them. Jobs that still wait when the process stops go back to the outbox.
 */
export function createAnalystQueue({ db, limits = atOnce, giveWay = createGiveWay() }: Options) {
  const slots = createFairSlots(limits);
  const stopping = new AbortController();
  const reason = new Error('the process stops');

  async function run<T>(orgId: string, job: NewJob, work: () => Promise<T>) {
    let began = false;
    const begin = async () => {
      await giveWay(stopping.signal);
      began = true;
      return await work();
    };
    try {
      return await slots.run(orgId, begin, stopping.signal);
    } catch (error) {
      if (began || error !== reason) throw error;
      await enqueue(db, [job]);
      return undefined;
    }
  }

  return { run, stop: () => stopping.abort(reason) };
}
