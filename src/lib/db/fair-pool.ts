import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { createSemaphore, nextLine, type Semaphore } from '../async/semaphore.ts';
import { type Db, inReadTransaction, one, poolBusy, type Sql } from './db.ts';

/**
 * Runs a slow read in its own transaction and cancels it in Postgres when the signal aborts. The connection is released
 * only after the cancellation, which could otherwise hit the next caller's statement. The cancellation uses the
 * connection that `createPoolSlots` leaves free.
 *
 *     const rows = await runAbortable(db, AbortSignal.timeout(10_000), (sql) => sql`select ...`);
 */
export async function runAbortable<T>(
  db: Db,
  signal: AbortSignal,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  return await runAsCostly(signal, () =>
    inReadTransaction(db, async (tx) => {
      const { pid } = one(await tx<{ pid: number }[]>`select pg_backend_pid() as pid`);
      signal.throwIfAborted();
      let ending: Promise<unknown> | undefined;
      // Bound to this context, so that the cancellation needs no second slot.
      const end = AsyncLocalStorage.bind(() => {
        ending = (async () => await db`select pg_cancel_backend(${pid})`.catch(() => {}))();
      });
      signal.addEventListener('abort', end, { once: true });
      try {
        return await work(tx);
      } catch (error) {
        throw ending ? signal.reason : error;
      } finally {
        signal.removeEventListener('abort', end);
        await ending;
      }
    }),
  );
}

/** Requests of an unknown group, because their link, session or key is still being looked up. */
export const ungroupedRequests = 'requests of no group';
export const serviceWork = 'work of the service';

export const requestWaitMs = 5000;

type Slots = Pick<Semaphore, 'acquire' | 'counts'>;

/** One slot per connection. Costly statements need two slots. */
type PoolSlots = Slots & { costly?: Slots };

export type PoolUse = { limit: number; busy: number; waiting: number };

type GroupOptions = {
  kind?: string;
  waitMs?: number;
  /** Limits statements that may keep a processor of Postgres busy for long. */
  costly?: boolean;
};

type Turn = GroupOptions & {
  group: string;
  /** Set with the first connection. Absent for turns that several requests share. */
  begun?: { it: boolean };
  signal?: AbortSignal;
};

const ofNoGroup: Turn = { group: ungroupedRequests, waitMs: requestWaitMs };
const turns = new AsyncLocalStorage<Turn>();

export const inGroup = <T>(
  group: string,
  work: () => Promise<T>,
  options: GroupOptions = {},
): Promise<T> => turns.run({ ...options, group, begun: { it: false } }, work);

const runAsCostly = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  turns.run({ ...(turns.getStore() ?? ofNoGroup), costly: true, signal }, work);

const jobPools = new WeakMap<Db, (group: string) => Db>();

/** The pool for the jobs of one group. Commands get the pool itself. */
export const poolForGroup = (db: Db, group: string): Db => jobPools.get(db)?.(group) ?? db;

/**
 * Wraps a pool so that statements wait for a slot of their group: `group`, or else the group that `inGroup` set. A
 * transaction holds one slot until it ends. Requests that have begun go first, so under load they finish soon and only
 * requests that have not begun are refused.
 */
export function shareFairly(pool: Db, slots: PoolSlots, group?: string): Db {
  const db = shareAs(pool, slots, group === undefined ? undefined : { group });
  if (group !== undefined) {
    jobPools.set(db, (name) => shareAs(pool, slots, { group: name, kind: 'jobs' }));
  }
  return db;
}

type Hold = { slots: PoolSlots; isOpen: boolean };
const holds = new AsyncLocalStorage<readonly Hold[]>();

function shareAs(pool: Db, slots: PoolSlots, fixed: Turn | undefined): Db {
  return pool.through(async (work) => {
    const outer = holds.getStore() ?? [];
    // Checks `isOpen`, because a statement that was not awaited may run after its transaction has ended.
    if (outer.some((hold) => hold.isOpen && hold.slots === slots)) return await work();
    const leave = await takeTurn(slots, fixed ?? turns.getStore() ?? ofNoGroup);
    const hold = { slots, isOpen: true };
    try {
      return await holds.run([...outer, hold], work);
    } finally {
      hold.isOpen = false;
      leave();
    }
  });
}

async function takeTurn(slots: PoolSlots, turn: Turn): Promise<() => void> {
  const endsAt = performance.now() + (turn.waitMs ?? Infinity);
  const leaves: (() => void)[] = [];
  const leave = () => {
    for (const each of leaves) each();
  };
  try {
    // This slot comes first, so that other statements can use the connection while this one waits.
    if (turn.costly && slots.costly) leaves.push(await takeSlot(slots.costly, turn, endsAt));
    leaves.push(await takeSlot(slots, turn, endsAt));
    if (turn.begun?.it) return leave;
    if (performance.now() >= endsAt) throw tooBusy();
    if (turn.begun) turn.begun.it = true;
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

async function takeSlot(slots: Slots, turn: Turn, endsAt: number): Promise<() => void> {
  const { group, kind, begun, signal } = turn;
  const line = begun?.it ? nextLine : (kind ?? 'usual');
  if (endsAt === Infinity) return await slots.acquire(group, signal, line);
  const late = new AbortController();
  const stop = () => begun?.it || late.abort(tooBusy());
  const timer = setTimeout(stop, Math.ceil(endsAt - performance.now()));
  try {
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    return await slots.acquire(group, either, line);
  } finally {
    clearTimeout(timer);
  }
}

const tooBusy = () =>
  Object.assign(new Error('all connections of this group are in use'), { code: poolBusy });

/** Smaller pools reserve no connection for ungrouped requests and the service. */
const largePool = 8;

/**
 * Gives a group at most half of the connections, so that another group always finds a free connection. Ungrouped
 * requests and the service go first, with up to a quarter each. One connection stays free to cancel statements. A group
 * runs costly statements on half of the processors, at four connections for each of them. A larger pool adds no processor.
 */
export function createPoolSlots(connections: number, processors = availableParallelism()) {
  const max = Math.floor(connections / 4);
  const kept = connections < largePool ? 0 : 1;
  const first = [ungroupedRequests, serviceWork].map((name) => ({ name, max, kept }));
  const slots = Math.max(connections - 1, 1);
  const reserve = slots - first.length * kept - Math.floor(connections / 2);
  const forConnections = createSemaphore({ slots, reserve, first });
  const forProcessors = Math.min(connections, 4 * processors);
  const costly = createSemaphore({
    slots: Math.max(2, Math.floor(forProcessors / 2)),
    maxPerGroup: Math.max(1, Math.floor(forProcessors / 8)),
  });
  return {
    ...forConnections,
    costly,
    use: (): PoolUse => ({
      limit: connections,
      busy: forConnections.counts().held,
      waiting: forConnections.counts().waiting + costly.counts().waiting,
    }),
  };
}
