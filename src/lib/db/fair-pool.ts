import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSemaphore, nextLine, type Semaphore } from '../async/semaphore.ts';
import {
  type Db,
  inReadTransaction,
  isDatabaseAway,
  isDatabaseFull,
  one,
  poolBusy,
  type Sql,
} from './db.ts';

/**
 * Runs a statement that only reads and may take long in a transaction of its own, and ends it when the
 * signal says so: then the connection is free for others, and the signal's reason is thrown. The connection
 * goes back only when the cancellation is done, so that it cannot end the statement of another caller
 * instead. The cancellation needs another connection, but no other slot: `createPoolSlots` leaves one. A reserved connection
 * would not do: the driver puts it back into the pool even when it was lost.
 *
 *     const rows = await runAbortable(db, AbortSignal.timeout(10_000), (sql) => sql`select ...`);
 */
export async function runAbortable<T>(
  db: Db,
  signal: AbortSignal,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  return await asCostly(signal, () =>
    inReadTransaction(db, async (tx) => {
      const { pid } = one(await tx<{ pid: number }[]>`select pg_backend_pid() as pid`);
      signal.throwIfAborted();
      let ending: Promise<unknown> | undefined;
      // As part of the transaction, whatever the signal comes from.
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

/** Requests before their group is known: they look up a link, a session, a key. */
export const ungroupedRequests = 'requests of no group';
export const serviceWork = 'work of the service';

/** How long a request may wait for its first connection while others have them. */
export const requestWaitMs = 5000;

type Slots = Pick<Semaphore, 'enter' | 'counts'>;

/** A slot for each connection of a pool, and the slots of the processors that costly statements need as well. */
type PoolSlots = Slots & { processors?: Slots };

export type PoolUse = { limit: number; busy: number; waiting: number };

type GroupOptions = {
  kind?: string;
  /** When the caller has gone, a request that has not begun does not begin. */
  isGone?: () => boolean;
  /** A request that has waited so long for its first connection is refused. */
  waitMs?: number;
  /** Statements that may keep a processor of Postgres busy for long: few of them run at once. */
  costly?: boolean;
};

type Turn = GroupOptions & {
  group: string;
  /** Set with the first connection. Absent where many requests share a turn. */
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

/** Counts all statements of `work` as costly ones of the group that they belong to. */
const asCostly = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  turns.run({ ...(turns.getStore() ?? ofNoGroup), costly: true, signal }, work);

const jobPools = new WeakMap<Db, (group: string) => Db>();

/** The pool for the jobs of one group. Outside a service it is the pool itself. */
export const poolForGroup = (db: Db, group: string): Db => jobPools.get(db)?.(group) ?? db;

/**
 * The same pool, whose statements wait for their turn: they belong to the `group`, or else to the one that `inGroup`
 * says. A transaction holds one slot until it ends, and statements inside it need no other. Requests that have begun
 * go before those that have not: under load, work ends soon after it began, and a request that is refused has not begun.
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
    // A statement that the transaction did not wait for may run after its end.
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
    // The processor first: while a costly statement waits for it, others of its group use the connection.
    if (turn.costly && slots.processors)
      leaves.push(await takeSlot(slots.processors, turn, endsAt));
    leaves.push(await takeSlot(slots, turn, endsAt));
    if (turn.begun?.it) return leave;
    if (turn.isGone?.()) throw refusal('the caller has gone before it began', 'CALLER_GONE');
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
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isWaiting = true;
  const start = () => {
    isWaiting = false;
    resolve();
  };
  const leave = slots.enter(group, start, begun?.it ? nextLine : (kind ?? 'usual'));
  if (!isWaiting) return leave;
  const late = () => begun?.it || reject(tooBusy());
  const timer =
    endsAt === Infinity ? undefined : setTimeout(late, Math.ceil(endsAt - performance.now()));
  const abort = () => reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await promise;
    return leave;
  } catch (error) {
    leave();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

const tooBusy = () => refusal('all connections that it may have are in use', poolBusy);

const refusal = (message: string, code: string) => Object.assign(new Error(message), { code });

type PoolSize = {
  connections: number;
  processors: number;
  now?: () => number;
};

/** From this size on, a connection can be kept for requests of no group, and one for the service. */
const largePool = 8;
/** A group counts as at work for so long after its last statement: most come one after the other. */
const quietMs = 1000;

/**
 * A group alone gets half of the connections, so that another finds a free one at any moment. Requests of no group
 * and the work of the service go first with up to a quarter each. One connection is left to cancel statements by.
 * Costly statements are limited by the processors of Postgres, which knows no groups and cannot interrupt them for
 * short ones: a group runs those on half of the processors, and on all of them after a second alone.
 */
export function createPoolSlots({
  connections,
  processors,
  now = () => performance.now(),
}: PoolSize) {
  const max = Math.floor(connections / 4);
  const kept = connections < largePool ? 0 : 1;
  const first = [ungroupedRequests, serviceWork].map((name) => ({ name, max, kept }));
  const slots = Math.max(connections - 1, 1);
  const reserve = slots - first.length * kept - Math.floor(connections / 2);
  const half = Math.max(1, Math.floor(processors / 2));
  const lastUse = new Map<string, number>();

  const noteUse = ({ enter, counts, groups }: Semaphore) => ({
    counts,
    groups,
    enter(group: string, start: () => void, line?: string) {
      const leave = enter(group, start, line);
      return () => {
        leave();
        lastUse.set(group, now());
      };
    },
  });

  /** Work of the service goes on at any time, and includes answers, which begin as requests of no group. */
  function isAlone(group: string): boolean {
    for (const [name, at] of lastUse) if (now() - at >= quietMs) lastUse.delete(name);
    const atWork = [...forConnections.groups(), ...forProcessors.groups(), ...lastUse.keys()];
    return atWork.every((name) => name === group || name === serviceWork);
  }

  const forConnections = noteUse(createSemaphore({ slots, reserve, first }));
  const forProcessors = noteUse(
    createSemaphore({
      slots: 2 * processors,
      maxPerGroup: (group) => (isAlone(group) ? processors : half),
    }),
  );
  return {
    ...forConnections,
    processors: forProcessors,
    use: (): PoolUse => ({
      limit: connections,
      busy: forConnections.counts().held,
      waiting: forConnections.counts().waiting + forProcessors.counts().waiting,
    }),
  };
}

const askAgainMs = 200;

/**
 * Circuit breaker: the same pool, which refuses statements at once while its database is away. They would pile up,
 * and the database would serve them first when it is back, for callers who have gone. The pool is asked until it
 * answers again. A connection that is lost and can be made again is no outage.
 */
export function addCircuitBreaker(pool: Db): Db {
  let away: unknown;
  let isAsking = false;

  async function askUntilBack() {
    if (isAsking) return;
    isAsking = true;
    for (;;) {
      away = await pool`select 1`.then(
        () => undefined,
        (error: unknown) => (isOutage(error) ? error : undefined),
      );
      if (away === undefined) break;
      await sleep(askAgainMs, undefined, { ref: false });
    }
    isAsking = false;
  }

  return pool.through(async (work) => {
    if (away !== undefined) throw away;
    try {
      return await work();
    } catch (error) {
      if (isOutage(error)) void askUntilBack();
      throw error;
    }
  });
}

/** A pool that was closed is not asked again, and a server without room answers. */
const isOutage = (error: unknown) =>
  isDatabaseAway(error) &&
  !isDatabaseFull(error) &&
  (error as { code?: unknown }).code !== 'CONNECTION_ENDED';
