import type { SlotPlace, SlotUser } from '../async/slot-groups.ts';
import { poolBusy } from './db.ts';
import type { PoolSlots } from './pool-slots.ts';
import type { QueryFollower } from './query-end.ts';
import type { DriverQuery } from './query-step.ts';

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

/** Whose statements run. */
export type Turn = GroupOptions & {
  group: string;
  begun?: { it: boolean };
  /** Ends the wait for a connection, with its reason. */
  signal?: AbortSignal;
};

/**
 * What takes a slot of a pool: it begins or is refused when its turn comes, and is refused once the wait is too long.
 * An object with methods in place of functions for each: there is one for every statement.
 */
abstract class PoolUser implements SlotUser {
  readonly #slots: PoolSlots;
  readonly #turn: Turn;
  readonly #enteredAt = performance.now();
  #place: SlotPlace | undefined;
  #processor: SlotPlace | undefined;
  #waits = true;
  #timer: NodeJS.Timeout | undefined;
  #abort: (() => void) | undefined;

  constructor(slots: PoolSlots, turn: Turn) {
    this.#slots = slots;
    this.#turn = turn;
  }

  abstract begin(): void;
  abstract refuse(error: unknown): void;

  /** A costly statement takes a processor before a connection: while it waits, others of its group use that. */
  enter() {
    const { group, costly } = this.#turn;
    const { processors } = this.#slots;
    if (costly && processors) {
      const user = { start: () => this.#takePlace() };
      this.#processor = processors.take(group, user, lineOf(this.#turn));
    } else this.#takePlace();
    if (this.#waits) this.#limitWait();
  }

  start() {
    this.#waits = false;
    this.#stopWaiting();
    const late = tooLate(this.#turn, this.#enteredAt);
    if (late) return this.refuse(late);
    if (this.#turn.begun) this.#turn.begun.it = true;
    this.begin();
  }

  leave() {
    if (this.#place) this.#slots.leave(this.#place);
    if (this.#processor) this.#slots.processors?.leave(this.#processor);
  }

  /** Refuses it unless something else of its turn has begun meanwhile. */
  refuseLate() {
    if (!this.#turn.begun?.it) this.#giveUp(tooBusy());
  }

  #takePlace() {
    this.#place = this.#slots.take(this.#turn.group, this, lineOf(this.#turn));
  }

  #limitWait() {
    const { begun, waitMs = Infinity, signal } = this.#turn;
    if (waitMs !== Infinity && !begun?.it) {
      this.#timer = setTimeout(refuseLate, Math.ceil(waitMs), this);
    }
    if (!signal) return;
    this.#abort = () => this.#giveUp(signal.reason);
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  #stopWaiting() {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#abort) this.#turn.signal?.removeEventListener('abort', this.#abort);
  }

  #giveUp(error: unknown) {
    this.#stopWaiting();
    this.leave();
    this.refuse(error);
  }
}

const refuseLate = (user: PoolUser) => user.refuseLate();

type SentQuery = { query: DriverQuery; send: DriverQuery['handler'] };

/** Leaves when it has ended. */
export class StatementUser extends PoolUser implements QueryFollower {
  readonly #query: DriverQuery;
  readonly #send: SentQuery['send'];

  constructor(slots: PoolSlots, turn: Turn, { query, send }: SentQuery) {
    super(slots, turn);
    this.#query = query;
    this.#send = send;
  }

  begin() {
    const send = this.#send;
    send(this.#query);
  }

  refuse(error: unknown) {
    this.#query.reject(error);
  }

  ended() {
    this.leave();
  }
}

export class TransactionUser extends PoolUser {
  readonly begun = Promise.withResolvers<void>();

  begin() {
    this.begun.resolve();
  }

  refuse(error: unknown) {
    this.begun.reject(error);
  }
}

/** Of a turn that many works share, none is the next because another has begun. */
const lineOf = ({ begun, kind }: Turn) => (begun?.it ? 'next' : (kind ?? 'usual'));

function tooLate({ begun, isGone, waitMs = Infinity }: Turn, enteredAt: number) {
  if (begun?.it) return undefined;
  if (isGone?.()) return refusal('the caller has gone before its statement began', 'CALLER_GONE');
  return performance.now() - enteredAt < waitMs ? undefined : tooBusy();
}

const tooBusy = () => refusal('all connections that it may have are in use', poolBusy);

const refusal = (message: string, code: string) => Object.assign(new Error(message), { code });
