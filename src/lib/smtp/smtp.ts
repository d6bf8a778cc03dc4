import {
  asksForLess,
  type Connection,
  type Envelope,
  isDone,
  leavesConnectionUsable,
  type MailOutcome,
  type OnStage,
  open,
  transmit,
} from './connection.ts';
import { createThrottle } from './pool.ts';
import type { SmtpSettings } from './settings.ts';

// Mail: composing, signing and sending messages over a shared pool of SMTP connections.

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

type Options = {
  onStage?: OnStage;
  firstPauseMs?: number;
  /** Called when the server can no longer be used, and with null when it can be again. */
  onProblem?: (problem: ServerProblem | null) => void;
  probeEveryMs?: number;
};

// Servers close an idle session after some minutes; leaving first avoids meeting that half way.
const idleMs = 15_000;

/** Sends complete messages to one server over a bounded number of connections. */
export function createSmtpPool(settings: SmtpSettings, options: Options = {}) {
  const { onStage, firstPauseMs, onProblem = () => {}, probeEveryMs = 150_000 } = options;
  const throttle = createThrottle({ ...settings, ...(firstPauseMs ? { firstPauseMs } : {}) });
  const idle = createIdle();
  const underWay = new Set<Promise<MailOutcome>>();
  const closing = new AbortController();
  const health = createHealth({ probe, probeEveryMs, onProblem });

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

  /** Connects and logs in, and sends nothing. */
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
     * The fate of one message; never throws for what the server does. Aborting the signal answers at
     * once: `lost` while the message cannot have been taken, `unknown` after its final dot.
     */
    send(envelope: Envelope, bytes: Buffer, leaving: Leaving = {}) {
      const sending = send(envelope, bytes, leaving);
      underWay.add(sending);
      return sending.finally(() => underWay.delete(sending));
    },
    /** Waits for messages under way, then says goodbye. What is sent later is lost. */
    async close() {
      closing.abort();
      await Promise.allSettled(underWay);
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

/** Why no mail can leave: the server does not answer, or refuses every connection or the login. */
export type ServerProblem = 'unreachable' | 'refused';

const minFailures = 3;
const minFailingMs = 3000;

/**
 * Whether the server can be used, by what the latest messages met. A refused login is a problem at once, anything else
 * when it happens again and again. Without messages a probe finds out when the problem is over, seldom enough not to
 * be locked out for wrong logins.
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
async function resets({ server }: Connection): Promise<boolean> {
  const reply = await server.say('RSET')[0]!;
  const done = 'code' in reply && isDone(reply.code);
  if (!done) server.close();
  return done;
}

/** Ends a session as the protocol wants it: the server closes, or we after it has answered. */
function leave({ server }: Connection) {
  void server.say('QUIT')[0]!.then(server.close);
}

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
