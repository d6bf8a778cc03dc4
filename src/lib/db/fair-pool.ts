import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db } from './db.ts';
import { type PoolSlots, requestsOfNoGroup } from './pool-slots.ts';
import { type GroupOptions, StatementUser, TransactionUser, type Turn } from './pool-user.ts';
import { onEnd } from './query-end.ts';
import { withStep } from './query-step.ts';
import { composing, driverOf } from './statement.ts';

/** A slot that a transaction has as long as it lasts. */
type Hold = { slots: PoolSlots; isOpen: boolean };

/** How long a request may wait for its first connection while others have them. */
export const requestWaitMs = 5000;

const ofNoGroup: Turn = { group: requestsOfNoGroup, waitMs: requestWaitMs };
const turns = new AsyncLocalStorage<Turn>();
const holds = new AsyncLocalStorage<readonly Hold[]>();
const keptParts = 1000;
/** How the work of a group gets its part of a pool that serves all of them. */
const parts = new WeakMap<Db, (group: string) => Db>();

/** Lets all statements of `work` count as those of a group, such as an organization. */
export const inGroup = <T>(
  group: string,
  work: () => Promise<T>,
  options: GroupOptions = {},
): Promise<T> => turns.run({ ...options, group, begun: { it: false } }, work);

/** Lets all statements of `work` count as costly ones of the group that they belong to. */
export const asCostly = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  turns.run({ ...(turns.getStore() ?? ofNoGroup), costly: true, signal }, work);

/** The part of a pool for the jobs of one group. What is no pool of a service has no parts. */
export const ofGroup = (db: Db, group: string): Db => parts.get(db)?.(group) ?? db;

/**
 * The same pool, divided between groups: statements of a group that would have more than its share wait here. All
 * statements take a slot, so that none is sent behind another that may be slow, as the driver does when all
 * connections are taken. With a `group` of its own a pool gives all of its statements to that group, whatever calls
 * them; else they belong to the group that `inGroup` says.
 * A transaction holds one slot until it ends, and what is done inside it needs no other. What has begun goes before
 * what has not: under load, work ends soon after it began, and what waits too long for its caller was not begun.
 */
export function shareFairly(pool: Db, slots: PoolSlots, group?: string): Db {
  const fixed = group === undefined ? undefined : { group };
  const db = shareAs(pool, slots, fixed);
  if (fixed) parts.set(db, partsOf(pool, slots));
  return db;
}

/** The parts of groups that have jobs again and again are kept. */
function partsOf(pool: Db, slots: PoolSlots) {
  const byGroup = new Map<string, Db>();
  return (group: string) => {
    const part = byGroup.get(group) ?? shareAs(pool, slots, { group, kind: 'jobs' });
    if (byGroup.size >= keptParts) byGroup.clear();
    byGroup.set(group, part);
    return part;
  };
}

function shareAs(pool: Db, slots: PoolSlots, fixed: Turn | undefined): Db {
  const driver = driverOf(pool);
  const turnNow = (): Turn => fixed ?? turns.getStore() ?? ofNoGroup;

  const shared = withStep(driver, (query, send) => {
    if (hasSlot(slots)) return send(query);
    const user = new StatementUser(slots, turnNow(), { query, send });
    user.enter();
    onEnd(query, user);
  });

  async function begin(...given: unknown[]) {
    const beginAll = driver.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    if (hasSlot(slots)) return await beginAll(...given);
    const user = new TransactionUser(slots, turnNow());
    user.enter();
    const hold = { slots, isOpen: true };
    try {
      await user.begun.promise;
      return await holds.run([...(holds.getStore() ?? []), hold], () => beginAll(...given));
    } finally {
      hold.isOpen = false;
      user.leave();
    }
  }

  return composing(Object.assign(shared, driver, { begin }) as unknown as Db);
}

/** What a transaction has started and did not wait for may outlast it: then it has no slot any more. */
const hasSlot = (slots: PoolSlots) =>
  holds.getStore()?.some((hold) => hold.isOpen && hold.slots === slots) ?? false;
