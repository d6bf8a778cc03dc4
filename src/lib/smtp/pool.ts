import { createSemaphore } from '../async/semaphore.ts';
import {
  asksForLess,
  type Connection,
  type Envelope,
  leavesConnectionUsable,
  type MailOutcome,
  open,
  transmit,
} from './connection.ts';
import type { SmtpSettings } from './settings.ts';

export type Leaving = {
  signal?: AbortSignal | undefined;
  /** Groups, such as organizations, take turns for connections and for the pace. */
  group?: string | undefined;
  /**
   * Asked once, when a connection is ready and before the first byte of the message goes over it: who
   * must know which messages may have arrived writes it down here. With false it does not go out.
   */
  mayLeave?: (() => Promise<boolean>) | undefined;
};

/** Takes complete messages: a pool of connections to a server, or a mailbox in the database. */
export type MailTransport = {
  send(envelope: Envelope, message: Buffer, leaving?: Leaving): Promise<MailOutcome>;
};

// Servers close an idle session after some minutes; leaving first avoids meeting that half way.
const idleMs = 15_000;

/** Sends complete messages to one server over a bounded number of connections. */
export function createSmtpPool(settings: SmtpSettings) {
  const throttle = createThrottle(settings);
  const idle = createIdle();
  const underWay = new Set<Promise<MailOutcome>>();
  const closing = new AbortController();

  async function send(
    envelope: Envelope,
    bytes: Buffer,
    { signal, group = '', mayLeave }: Leaving,
  ) {
    if (closing.signal.aborted) return closed;
    const leave = await throttle.enter(group, signal);
    if (!leave) return outOfTime;
    let outcome: MailOutcome | undefined;
    try {
      outcome = await deliver({ envelope, bytes, signal, mayLeave: askedOnce(mayLeave) });
      return outcome;
    } finally {
      leave(feeling(outcome));
    }
  }

  /** A reused connection may have ended unseen: what is lost on it gets a new one, once. */
  async function deliver(message: Message): Promise<MailOutcome> {
    const reused = idle.take();
    if (reused) {
      const outcome = await deliverOver(reused, message);
      if (outcome.kind !== 'lost' || message.signal?.aborted) return outcome;
    }
    const opened = await open(settings, message.signal);
    if ('failure' in opened) return opened.failure;
    idle.watch(opened.connection);
    return deliverOver(opened.connection, message);
  }

  async function deliverOver(connection: Connection, message: Message): Promise<MailOutcome> {
    try {
      if (!(await message.mayLeave())) {
        idle.put(connection);
        return withdrawn;
      }
      const outcome = await transmit(connection, message, settings);
      connection.messages += 1;
      await putBack(connection, outcome);
      return outcome;
    } catch (error) {
      connection.smtp.close();
      throw error;
    }
  }

  async function putBack(connection: Connection, outcome: MailOutcome) {
    const { smtp } = connection;
    if (smtp.destroyed) return;
    const spent = connection.messages >= settings.messagesPerConnection || closing.signal.aborted;
    if (spent && outcome.kind === 'accepted') return leave(connection);
    if (spent || !leavesConnectionUsable(outcome)) return smtp.close();
    if (outcome.kind === 'accepted' || (await resets(connection))) idle.put(connection);
  }

  return {
    /**
     * The fate of one message; never throws for what the server does. Aborting the signal answers at
     * once: `lost` while the message cannot have been taken, `unknown` after its final dot.
     */
    send(envelope: Envelope, bytes: Buffer, leaving: Leaving = {}): Promise<MailOutcome> {
      const sending = send(envelope, bytes, leaving);
      underWay.add(sending);
      return sending.finally(() => underWay.delete(sending));
    },
    /** Waits for messages under way, then says goodbye. What is sent later is lost. */
    async close() {
      closing.abort();
      await Promise.allSettled(underWay);
      idle.empty();
    },
    state: () => ({ ...throttle.state(), idle: idle.size() }),
  };
}

type Message = {
  envelope: Envelope;
  bytes: Buffer;
  signal: AbortSignal | undefined;
  mayLeave: () => Promise<boolean>;
};

/** A second connection for the same message is no second attempt. */
function askedOnce(mayLeave: Leaving['mayLeave']): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= mayLeave?.() ?? Promise.resolve(true);
    return asked;
  };
}

const closed: MailOutcome = { kind: 'lost', reason: 'the mail service is stopping' };
const withdrawn: MailOutcome = { kind: 'lost', reason: 'it is not to be sent any more' };
const outOfTime: MailOutcome = { kind: 'lost', reason: 'the time for sending was over' };

function feeling(outcome: MailOutcome | undefined) {
  if (!outcome || outcome.kind === 'lost' || outcome.kind === 'unknown') return 'failed';
  return asksForLess(outcome) ? 'asked_for_less' : 'fine';
}

/** After a refusal the server may still be inside that message's transaction. */
function resets({ smtp }: Connection): Promise<boolean> {
  return new Promise((resolve) => {
    const end = () => resolve(false);
    smtp.once('end', end);
    smtp.reset((error) => {
      smtp.off('end', end);
      if (error) smtp.close();
      resolve(!error);
    });
  });
}

/** Ends a session as the protocol wants it: the server closes, or we after it has answered. */
const leave = ({ smtp }: Connection) => smtp.quit();

/** Connections that wait for their next message, the freshest first. */
function createIdle() {
  const timers = new Map<Connection, NodeJS.Timeout>();
  const remove = (connection: Connection) => {
    clearTimeout(timers.get(connection));
    return timers.delete(connection);
  };
  const quit = (connection: Connection) => {
    remove(connection);
    leave(connection);
  };
  return {
    size: () => timers.size,
    /** Removes a connection that ends, on whichever side. */
    watch: (connection: Connection) => connection.smtp.once('end', () => remove(connection)),
    put(connection: Connection) {
      timers.set(connection, setTimeout(quit, idleMs, connection).unref());
    },
    take(): Connection | undefined {
      const freshest = [...timers.keys()].at(-1);
      if (freshest) remove(freshest);
      return freshest;
    },
    empty() {
      for (const connection of timers.keys()) quit(connection);
    },
  };
}

type Ending = 'fine' | 'asked_for_less' | 'failed';

type Options = Pick<SmtpSettings, 'connections' | 'messagesPerSecond'>;

const [minPauseMs, maxPauseMs] = [500, 30_000];

/**
 * How many messages are in flight at once and how soon the next may start. Groups, such as organizations, take turns.
 * A server that asks for less gets half of it and a pause; each accepted message then earns a part of a place back.
 */
export function createThrottle({ connections, messagesPerSecond }: Options) {
  const semaphore = createSemaphore({ slots: connections, startsPerSecond: messagesPerSecond });
  let [limit, pausedUntil, pauseMs] = [connections, 0, minPauseMs];

  function slowDown() {
    // Many connections get the same complaint at the same moment: it counts once.
    if (performance.now() < pausedUntil) return;
    limit = Math.max(1, Math.floor(limit / 2));
    pausedUntil = performance.now() + pauseMs;
    semaphore.pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    semaphore.resize(limit);
  }

  function speedUp() {
    if (limit === connections) return;
    limit = Math.min(connections, limit + 1 / limit);
    semaphore.resize(Math.floor(limit));
    if (limit === connections) pauseMs = minPauseMs;
  }

  return {
    /** Waits for a place and returns how to give it back; nothing when the signal ended the wait. */
    async enter(group: string, signal?: AbortSignal) {
      const leave = await semaphore.acquire(group, signal).catch(() => undefined);
      if (!leave) return undefined;
      return (ending: Ending) => {
        if (ending === 'asked_for_less') slowDown();
        if (ending === 'fine') speedUp();
        leave();
      };
    },
    state() {
      const { held, waiting } = semaphore.counts();
      return { limit: Math.floor(limit), underWay: held, waiting };
    },
  };
}
