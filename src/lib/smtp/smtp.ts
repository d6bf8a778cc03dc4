import { createSemaphore } from '../async/semaphore.ts';
import {
  type Connection,
  type Envelope,
  isDone,
  isThrottled,
  leavesConnectionUsable,
  type MailOutcome,
  type OnStage,
  open,
  transmit,
} from './connection.ts';
import type { SmtpSettings } from './settings.ts';

export type SendOptions = {
  signal?: AbortSignal | undefined;
  /** Groups, such as organizations, take turns. */
  group?: string | undefined;
  /**
   * Called once, when a connection is ready and before the first byte is sent. Record here that the message may have
   * arrived. If it resolves to false, the message is not sent.
   */
  mayLeave?: (() => Promise<boolean>) | undefined;
};

/** Sends complete messages: a pool of SMTP connections, or the built-in mailbox. */
export type MailTransport = {
  send(envelope: Envelope, message: Buffer, options?: SendOptions): Promise<MailOutcome>;
};

type Options = {
  onStage?: OnStage;
  firstPauseMs?: number;
  /** Called when the server becomes unusable, and with null when it works again. */
  onProblem?: (problem: ServerProblem | null) => void;
  probeEveryMs?: number;
};

/** Servers close idle sessions after some minutes, so we close first. */
const idleMs = 15_000;

export function createSmtpPool(settings: SmtpSettings, options: Options = {}) {
  const { onStage, firstPauseMs, onProblem = () => {}, probeEveryMs = 150_000 } = options;
  const throttle = createThrottle({ ...settings, ...(firstPauseMs ? { firstPauseMs } : {}) });
  const idle = createIdle();
  const inFlight = new Set<Promise<MailOutcome>>();
  const closing = new AbortController();
  const health = createHealth({ probe, probeEveryMs, onProblem });

  async function send(
    envelope: Envelope,
    bytes: Buffer,
    { signal, group = '', mayLeave }: SendOptions,
  ) {
    if (closing.signal.aborted) return closed;
    const leave = await throttle.enter(group, signal);
    if (!leave) return outOfTime;
    let outcome: MailOutcome | undefined;
    try {
      outcome = await deliver({ envelope, bytes, signal, mayLeave: callOnce(mayLeave) });
      return outcome;
    } finally {
      leave(loadSignal(outcome));
    }
  }

  /** A reused connection may be dead, so a message that is lost on it is sent once more on a new one. */
  async function deliver(message: Message): Promise<MailOutcome> {
    const reused = idle.take();
    if (reused) {
      const outcome = await deliverOver(reused, message);
      if (outcome.kind !== 'lost' || message.signal?.aborted) return outcome;
    }
    const opened = await open(settings, message.signal);
    if ('failure' in opened) {
      if (!message.signal?.aborted) health.failed(opened.failure);
      return opened.failure;
    }
    idle.watch(opened.connection);
    const outcome = await deliverOver(opened.connection, message);
    const isLost = outcome.kind === 'lost' && outcome !== withdrawn && !message.signal?.aborted;
    if (isLost) health.failed(outcome);
    return outcome;
  }

  async function probe() {
    const opened = await open(settings, closing.signal);
    if (closing.signal.aborted) return;
    if ('failure' in opened) return health.failed(opened.failure);
    leave(opened.connection);
    health.worked();
  }

  async function deliverOver(connection: Connection, message: Message): Promise<MailOutcome> {
    try {
      if (!(await message.mayLeave())) {
        idle.put(connection);
        return withdrawn;
      }
      await onStage?.('before_data');
      const outcome = await transmit(connection, message, settings);
      connection.messages += 1;
      if (outcome.kind === 'accepted' || outcome.kind === 'refused') health.worked();
      if (outcome.kind === 'accepted') await onStage?.('after_accepted');
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
     * Resolves to the outcome and never rejects for server errors. After an abort, it resolves at once: to `lost`
     * before the final dot, to `unknown` after it.
     */
    send(envelope: Envelope, bytes: Buffer, sendOptions: SendOptions = {}) {
      const sending = send(envelope, bytes, sendOptions);
      inFlight.add(sending);
      return sending.finally(() => inFlight.delete(sending));
    },
    /** Waits for messages in flight, then quits. Messages sent later are lost. */
    async close() {
      closing.abort();
      await Promise.allSettled(inFlight);
      idle.empty();
      health.stop();
    },
    problem: health.problem,
    state: () => ({ ...throttle.state(), idle: idle.size() }),
  };
}

type Message = {
  envelope: Envelope;
  bytes: Buffer;
  signal: AbortSignal | undefined;
  mayLeave: () => Promise<boolean>;
};

/** The server does not respond, or it rejects every connection or the login. */
export type ServerProblem = 'unreachable' | 'refused';

const minFailures = 3;
const minFailingMs = 3000;

/**
 * Tracks whether the server works. A rejected login is a problem at once, and other failures are a problem when they
 * repeat. A probe notices when the server works again. It runs rarely, so that wrong logins do not lock us out.
 */
function createHealth({
  probe,
  probeEveryMs,
  onProblem,
}: { probe: () => Promise<void> } & Required<Pick<Options, 'probeEveryMs' | 'onProblem'>>) {
  let problem: ServerProblem | null = null;
  let [failures, failingSince] = [0, 0];
  let timer: NodeJS.Timeout | undefined;

  function set(next: ServerProblem | null) {
    clearTimeout(timer);
    if (next) timer = setTimeout(probe, probeEveryMs).unref();
    if (next === problem) return;
    problem = next;
    onProblem(problem);
  }

  return {
    worked() {
      failures = 0;
      if (problem) set(null);
    },
    failed(outcome: MailOutcome) {
      if (failures === 0) failingSince = performance.now();
      failures += 1;
      if (outcome.kind === 'refused' && outcome.permanent) return set('refused');
      const isLong = performance.now() - failingSince >= minFailingMs;
      if (problem || (failures >= minFailures && isLong)) set('unreachable');
    },
    stop: () => clearTimeout(timer),
    problem: () => problem,
  };
}

const maxPauseMs = 30_000;

/**
 * Limits messages in flight and per second. Groups, such as organizations, take turns. A server that asks us to slow
 * down gets a pause and half of the connections, and each accepted message restores part of a connection.
 */
export function createThrottle(options: {
  connections: number;
  messagesPerSecond: number | null;
  firstPauseMs?: number;
}) {
  const { connections, messagesPerSecond, firstPauseMs = 500 } = options;
  const semaphore = createSemaphore({ slots: connections, startsPerSecond: messagesPerSecond });
  let [limit, pausedUntil, pauseMs] = [connections, 0, firstPauseMs];

  function slowDown() {
    // Several connections get the same complaint at once.
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
    if (limit === connections) pauseMs = firstPauseMs;
  }

  return {
    /** Waits for a slot and returns its release function, or undefined if the signal aborts. */
    async enter(group: string, signal?: AbortSignal) {
      const leave = await semaphore.acquire(group, signal).catch(() => undefined);
      if (!leave) return undefined;
      return (ending: 'fine' | 'throttled' | 'failed') => {
        if (ending === 'throttled') slowDown();
        if (ending === 'fine') speedUp();
        leave();
      };
    },
    state() {
      const { held, waiting } = semaphore.counts();
      return { limit: Math.floor(limit), inFlight: held, waiting };
    },
  };
}

/** A second connection for the same message is not a second attempt. */
function callOnce(mayLeave: SendOptions['mayLeave']): () => Promise<boolean> {
  let result: Promise<boolean> | undefined;
  return () => {
    result ??= mayLeave?.() ?? Promise.resolve(true);
    return result;
  };
}

const closed: MailOutcome = { kind: 'lost', reason: 'the mail service is stopping' };
const withdrawn: MailOutcome = { kind: 'lost', reason: 'it should no longer be sent' };
const outOfTime: MailOutcome = { kind: 'lost', reason: 'the time limit for sending was reached' };

function loadSignal(outcome: MailOutcome | undefined) {
  if (!outcome || outcome.kind === 'lost' || outcome.kind === 'unknown') return 'failed';
  return isThrottled(outcome) ? 'throttled' : 'fine';
}

/** After a rejection, the server may still be inside the transaction of that message. */
async function resets({ server }: Connection): Promise<boolean> {
  const reply = await server.say('RSET')[0]!;
  const done = 'code' in reply && isDone(reply.code);
  if (!done) server.close();
  return done;
}

function leave({ server }: Connection) {
  void server.say('QUIT')[0]!.then(server.close);
}

/** Idle connections, last in, first out. */
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
