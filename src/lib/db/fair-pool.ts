import { AsyncLocalStorage } from 'node:async_hooks';
import { createFairSlots, type FairSlots } from '../async/fair-slots.ts';
import { type Db, poolBusy } from './db.ts';
import { composing, driverOf } from './statement.ts';

/** Whose statements run. */
type Turn = GroupOptions & { group: string; begun?: { it: boolean } };

/** A slot that a transaction has as long as it lasts. */
type Hold = { slots: FairSlots; isOpen: boolean };

export type GroupOptions = {
  /** Kinds of work of a group get its connections in turn. */
  kind?: string;
  /** Whether its caller has gone, and with it the use of its result: then it does not begin. */
  isGone?: () => boolean;
  /** What has waited so long for its first connection is refused while its caller still waits for the answer. */
  waitMs?: number;
};

/** How long a request may wait for its first connection while others of its group have them. */
export const requestWaitMs = 5000;

/** What requests do before they are known to belong to a group: look up a link, a session, a key. */
const requestsOfNoGroup = 'requests of no group';
/** What the process does for all groups. */
export const serviceWork = 'work of the service';

const ofNoGroup: Turn = { group: requestsOfNoGroup };
const turns = new AsyncLocalStorage<Turn>();
const holds = new AsyncLocalStorage<readonly Hold[]>();

/** Lets all statements of `work` count as those of a group, such as an organization. */
export const inGroup = <T>(
  group: string,
  work: () => Promise<T>,
  options: GroupOptions = {},
): Promise<T> => turns.run({ ...options, group, begun: { it: false } }, work);

/** From this size on the share of a group still leaves connections to others when some are kept. */
const largePool = 8;

/**
 * The slots of a pool: a group alone gets half of the connections, so that another finds a free one at any moment.
 * What belongs to no group is short, and the work of the service is everybody's: each goes first with up to a quarter
 * of the connections, and in a large pool has one that groups never take. All together leave one, by which a
 * statement that holds another is cancelled.
 */
export function createPoolSlots(connections: number): FairSlots {
  const most = Math.floor(connections / 4);
  const kept = connections < largePool ? 0 : 1;
  const first = [requestsOfNoGroup, serviceWork].map((name) => ({ name, most, kept }));
  const total = Math.max(connections - 1, 1);
  const shared = total - first.length * kept;
  return createFairSlots({ total, reserve: shared - Math.floor(connections / 2), first });
}

/** A query as the driver makes it: `handler` takes it when it is awaited. */
type Query = Promise<unknown> & {
  handler: (query: Query) => unknown;
  reject: (error: Error) => unknown;
};

/**
 * The same pool, divided between groups: statements of a group that would have more than its share wait here. All
 * statements take a slot, so that none is sent behind another that may be slow, as the driver does when all
 * connections are taken. With a `group` of its own a pool gives all of its statements to that group, whatever calls
 * them; else they belong to the group that `inGroup` says.
 * A transaction holds one slot until it ends, and what is done inside it needs no other. What has begun goes before
 * what has not: under load, work ends soon after it began, and what waits too long for its caller was not begun.
 */
export function shareFairly(pool: Db, slots: FairSlots, group?: string): Db {
  const driver = driverOf(pool);
  const fixed = group === undefined ? undefined : { group };

  function shared(first: unknown, ...rest: unknown[]) {
    const made = (driver as unknown as (...all: unknown[]) => unknown)(first, ...rest);
    if ((first as { raw?: unknown } | undefined)?.raw) takeTurn(made as Query);
    return made;
  }

  function takeTurn(query: Query) {
    const { handler } = query;
    query.handler = (taken) => {
      if (hasSlot(slots)) return handler(taken);
      const turn: Turn = fixed ?? turns.getStore() ?? ofNoGroup;
      const enteredAt = performance.now();
      const start = () => {
        const late = tooLate(turn, enteredAt);
        if (late) return query.reject(late);
        setBegun(turn);
        return handler(taken);
      };
      const leave = slots.enter(turn.group, start, lineOf(turn));
      query.then(leave, leave);
    };
  }

  async function begin(...given: unknown[]) {
    const beginAll = driver.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    if (hasSlot(slots)) return await beginAll(...given);
    const turn: Turn = fixed ?? turns.getStore() ?? ofNoGroup;
    const enteredAt = performance.now();
    const leave = await slots.acquire(turn.group, undefined, lineOf(turn));
    const hold = { slots, isOpen: true };
    try {
      const late = tooLate(turn, enteredAt);
      if (late) throw late;
      setBegun(turn);
      return await holds.run([...(holds.getStore() ?? []), hold], () => beginAll(...given));
    } finally {
      hold.isOpen = false;
      leave();
    }
  }

  return composing(Object.assign(shared, driver, { begin }) as unknown as Db);
}

/** What a transaction has started and did not wait for may outlast it: then it has no slot any more. */
const hasSlot = (slots: FairSlots) =>
  holds.getStore()?.some((hold) => hold.isOpen && hold.slots === slots) ?? false;

/** Of a turn that many works share, none is the next because another has begun. */
const lineOf = ({ begun, kind }: Turn) => (begun?.it ? 'next' : (kind ?? 'usual'));

function setBegun({ begun }: Turn) {
  if (begun) begun.it = true;
}

function tooLate({ begun, isGone, waitMs = Infinity }: Turn, enteredAt: number) {
  if (begun?.it) return undefined;
  if (isGone?.()) return refusal('the caller has gone before its statement began', 'CALLER_GONE');
  if (performance.now() - enteredAt < waitMs) return undefined;
  return refusal('others of its group have all of their connections', poolBusy);
}

const refusal = (message: string, code: string) => Object.assign(new Error(message), { code });
