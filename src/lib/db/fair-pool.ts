import { AsyncLocalStorage } from 'node:async_hooks';
import { type Db, poolBusy } from './db.ts';
import { type PoolSlots, requestsOfNoGroup } from './pool-slots.ts';
import { onEnd } from './query-end.ts';
import { withStep } from './query-step.ts';
import { composing, driverOf } from './statement.ts';

/** Whose statements run. */
type Turn = GroupOptions & {
  group: string;
  begun?: { it: boolean };
  /** Ends the wait for a connection, with its reason. */
  signal?: AbortSignal;
};

/** A slot that a transaction has as long as it lasts. */
type Hold = { slots: PoolSlots; isOpen: boolean };

export type GroupOptions = {
  /** Kinds of work of a group get its connections in turn. */
  kind?: string;
  /** Whether its caller has gone, and with it the use of its result: then it does not begin. */
  isGone?: () => boolean;
  /** What has waited so long for its first connection is refused. */
  waitMs?: number;
  /** Its statements may keep a processor of Postgres busy for long: of these few run at once. */
  costly?: boolean;
};

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
    const leave = enter(slots, turnNow(), {
      start: () => send(query),
      refuse: (error) => query.reject(error),
    });
    onEnd(query, leave);
  });

  async function begin(...given: unknown[]) {
    const beginAll = driver.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    if (hasSlot(slots)) return await beginAll(...given);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = enter(slots, turnNow(), { start: resolve, refuse: reject });
    const hold = { slots, isOpen: true };
    try {
      await promise;
      return await holds.run([...(holds.getStore() ?? []), hold], () => beginAll(...given));
    } finally {
      hold.isOpen = false;
      leave();
    }
  }

  return composing(Object.assign(shared, driver, { begin }) as unknown as Db);
}

/** What a transaction has started and did not wait for may outlast it: then it has no slot any more. */
const hasSlot = (slots: PoolSlots) =>
  holds.getStore()?.some((hold) => hold.isOpen && hold.slots === slots) ?? false;

type Entry = { start: () => void; refuse: (error: Error) => void };

/** Starts or refuses when the turn comes, and refuses once the wait is too long; the function it returns ends the turn. */
function enter(slots: PoolSlots, turn: Turn, { start, refuse }: Entry): () => void {
  const enteredAt = performance.now();
  let waits = true;
  let stopWaiting = () => {};
  const leave = takeSlots(slots, turn, () => {
    waits = false;
    stopWaiting();
    const late = tooLate(turn, enteredAt);
    if (late) return refuse(late);
    if (turn.begun) turn.begun.it = true;
    start();
  });
  if (waits) {
    stopWaiting = limitWait(turn, (error) => {
      stopWaiting();
      leave();
      refuse(error);
    });
  }
  return leave;
}

/** A costly statement takes a processor before a connection: while it waits, others of its group use that. */
function takeSlots(slots: PoolSlots, turn: Turn, start: () => void): () => void {
  const { group, costly } = turn;
  const enterPool = () => slots.enter(group, start, lineOf(turn));
  if (!costly || !slots.processors) return enterPool();
  let leavePool = () => {};
  const leaveProcessor = slots.processors.enter(
    group,
    () => {
      leavePool = enterPool();
    },
    lineOf(turn),
  );
  return () => {
    leavePool();
    leaveProcessor();
  };
}

/** Of a turn that many works share, none is the next because another has begun. */
const lineOf = ({ begun, kind }: Turn) => (begun?.it ? 'next' : (kind ?? 'usual'));

function limitWait({ begun, waitMs = Infinity, signal }: Turn, giveUp: (error: Error) => void) {
  const isLimited = waitMs !== Infinity && !begun?.it;
  const timer = isLimited
    ? setTimeout(() => begun?.it || giveUp(tooBusy()), Math.ceil(waitMs))
    : undefined;
  const abort = () => giveUp(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
}

function tooLate({ begun, isGone, waitMs = Infinity }: Turn, enteredAt: number) {
  if (begun?.it) return undefined;
  if (isGone?.()) return refusal('the caller has gone before its statement began', 'CALLER_GONE');
  return performance.now() - enteredAt < waitMs ? undefined : tooBusy();
}

const tooBusy = () => refusal('all connections that it may have are in use', poolBusy);

const refusal = (message: string, code: string) => Object.assign(new Error(message), { code });
