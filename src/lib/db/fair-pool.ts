import { AsyncLocalStorage } from 'node:async_hooks';
import { createFairSlots, type FairSlots } from '../async/fair-slots.ts';
import { type Db, poolBusy } from './db.ts';
import { composing, driverOf } from './statement.ts';

/** Whose statements run, and whether they run inside a transaction that has a slot already. */
type Turn = GroupOptions & { group: string; hasSlot: boolean; begun: { it: boolean } };

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

const turns = new AsyncLocalStorage<Turn>();

/** Lets all statements of `work` count as those of a group, such as an organization. */
export const inGroup = <T>(
  group: string,
  work: () => Promise<T>,
  options: GroupOptions = {},
): Promise<T> => turns.run({ ...options, group, hasSlot: false, begun: { it: false } }, work);

/** Lets statements of `work` go straight through, whatever called it. */
export const inNoGroup = <T>(work: () => Promise<T>): Promise<T> => turns.exit(work);

/**
 * The slots of a pool: a group alone gets half of the connections, so that another finds a free one at any
 * moment. All groups together leave one connection, by which a statement that holds another is cancelled.
 */
export const createPoolSlots = (connections: number) =>
  createFairSlots({ total: Math.max(connections - 1, 1), reserve: Math.ceil(connections / 2) });

/** A query as the driver makes it: `handler` takes it when it is awaited. */
type Query = Promise<unknown> & {
  handler: (query: Query) => unknown;
  reject: (error: Error) => unknown;
};

/**
 * The same pool, divided between groups: statements of a group that would have more than its share wait
 * here, and not on connections in front of those of others. What runs in no group goes straight through.
 * A transaction holds one slot until it ends, and what is done inside it needs no other. What has begun goes before
 * what has not: under load, work ends soon after it began, and what waits too long for its caller was not begun.
 */
export function shareFairly(pool: Db, slots: FairSlots): Db {
  const driver = driverOf(pool);

  function shared(first: unknown, ...rest: unknown[]) {
    const made = (driver as unknown as (...all: unknown[]) => unknown)(first, ...rest);
    if ((first as { raw?: unknown } | undefined)?.raw) takeTurn(made as Query);
    return made;
  }

  function takeTurn(query: Query) {
    const { handler } = query;
    query.handler = (taken) => {
      const turn = turns.getStore();
      if (!turn || turn.hasSlot) return handler(taken);
      const enteredAt = performance.now();
      const start = () => {
        const late = tooLate(turn, enteredAt);
        if (late) return query.reject(late);
        turn.begun.it = true;
        return handler(taken);
      };
      const leave = slots.enter(turn.group, start, lineOf(turn));
      query.then(leave, leave);
    };
  }

  async function begin(...given: unknown[]) {
    const beginAll = driver.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    const turn = turns.getStore();
    if (!turn || turn.hasSlot) return await beginAll(...given);
    const enteredAt = performance.now();
    const leave = await slots.acquire(turn.group, undefined, lineOf(turn));
    try {
      const late = tooLate(turn, enteredAt);
      if (late) throw late;
      turn.begun.it = true;
      return await turns.run({ ...turn, hasSlot: true }, () => beginAll(...given));
    } finally {
      leave();
    }
  }

  return composing(Object.assign(shared, driver, { begin }) as unknown as Db);
}

const lineOf = ({ begun, kind }: Turn) => (begun.it ? 'next' : (kind ?? 'usual'));

function tooLate({ begun, isGone, waitMs = Infinity }: Turn, enteredAt: number) {
  if (begun.it) return undefined;
  if (isGone?.()) return refusal('the caller has gone before its statement began', 'CALLER_GONE');
  if (performance.now() - enteredAt < waitMs) return undefined;
  return refusal('others of its group have all of their connections', poolBusy);
}

const refusal = (message: string, code: string) => Object.assign(new Error(message), { code });
