import type { Agent, Dispatcher } from 'undici';
import { createSemaphores } from '../async/semaphore.ts';
import {
  createResolve,
  type FailureKind,
  failureOf,
  guardedConnector,
  hostOf,
  judgedAddresses,
  judgeTarget,
  OutboundFailure,
  parseAllowList,
  type Resolve,
  tooMuch,
} from './connect.ts';

/** What a post came to. It counts as answered only without an error, whatever its status. */
export type OutboundAnswer = {
  statusCode: number | null;
  body: string;
  retryAfterSeconds: number | null;
  error: string | null;
  errorKind: FailureKind | null;
  durationMs: number;
};

export type Post = {
  group: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
  deadlineMs: number;
  signal?: AbortSignal;
};

export type Outbound = ReturnType<typeof createOutbound>;

type Settings = {
  allow: readonly string[];
  http: boolean;
  perHostConnections: number;
  resolve?: Resolve;
};

const maxHeaderBytes = 16 * 1024;
const reservedShare = 4;
const idleConnectionMs = 4_000;
const maxIdleConnectionMs = 30_000;

/**
 * The one way to talk to addresses that others gave us. Whatever they lead to is an outcome, returned
 * within the deadline; only a mistake of our own is thrown.
 */
export function createOutbound({ allow, http, perHostConnections, resolve }: Settings) {
  const rules = { allow: parseAllowList(allow), http };
  const names = createResolve({ systemNames: allow.length > 0 });
  const guard = { allow: rules.allow, resolve: resolve ?? names.resolve };
  const client = guardedClient(guardedConnector(guard), perHostConnections);
  const reserve = Math.floor(perHostConnections / reservedShare);
  const slots = createSemaphores({ slots: perHostConnections, reserve });

  function post(url: string, request: Post): Promise<OutboundAnswer> {
    const complaint = judgeTarget(url, rules);
    if (complaint) return Promise.resolve(refused(complaint));
    return exchange({ client, slots }, new URL(url), request);
  }

  async function judge(url: string): Promise<string | null> {
    const complaint = judgeTarget(url, rules);
    if (complaint) return complaint;
    const judged = judgedAddresses(guard, hostOf(new URL(url)));
    const failure = await judged.then(
      () => null,
      (error: Error) => error,
    );
    const forbidden = failure instanceof OutboundFailure && failure.kind === 'forbidden';
    return forbidden ? failure.message : null;
  }

  async function close() {
    names.close();
    await client.close();
  }

  return { post, judge, close };
}

type Client = ReturnType<typeof guardedClient>;

/** Loaded with the first post: a service without subscribers starts sooner, and smaller. */
function guardedClient(connect: ReturnType<typeof guardedConnector>, connections: number) {
  let loading: Promise<Agent> | undefined;
  let closed = false;

  async function load(): Promise<Agent> {
    const { Agent } = await import('undici');
    if (closed) throw new OutboundFailure('cancelled', 'the client is closed');
    return new Agent({
      connect,
      // A slot is free a moment before its connection is: without this a new one would be made.
      connections,
      allowH2: false,
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: idleConnectionMs,
      keepAliveMaxTimeout: maxIdleConnectionMs,
      // Both only watch the time between two pieces; the deadline watches the whole.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  return {
    agent: (): Promise<Agent> => {
      loading ??= load();
      return loading;
    },
    async close() {
      closed = true;
      await loading?.then(
        (agent) => agent.destroy(),
        () => {},
      );
    },
  };
}

type Means = { client: Client; slots: ReturnType<typeof createSemaphores> };

function exchange({ client, slots }: Means, url: URL, request: Post): Promise<OutboundAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<OutboundAnswer>();
  const answering = receiver(resolve, reject);
  let sent = false;

  const leave = slots.enter(hostOf(url), request.group, () => {
    sent = true;
    const dispatch = (agent: Agent) =>
      agent.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'POST',
          headers: { ...request.headers, 'accept-encoding': 'identity' },
          body: request.body,
        },
        answering,
      );
    const notSent = (error: Error) =>
      error instanceof OutboundFailure ? answering.giveUp(error) : reject(error);
    client.agent().then(dispatch).catch(notSent);
  });
  const unwatch = watch(request, answering, () => sent);
  return promise.finally(() => {
    unwatch();
    leave();
  });
}

function watch({ deadlineMs, signal }: Post, answering: Receiver, sent: () => boolean) {
  const late = () => answering.giveUp(sent() ? tooLate(deadlineMs) : tooBusy());
  const cancel = () =>
    answering.giveUp(new OutboundFailure('cancelled', 'the request was given up'));
  const timer = setTimeout(late, deadlineMs);
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  };
}

const tooLate = (deadlineMs: number) =>
  new OutboundFailure('timeout', `no complete answer within ${deadlineMs / 1000} s`);

const tooBusy = () => new OutboundFailure('busy', 'too many requests to this host are under way');

const refused = (error: string): OutboundAnswer => ({
  statusCode: null,
  body: '',
  retryAfterSeconds: null,
  error,
  errorKind: 'forbidden',
  durationMs: 0,
});

type Receiver = Dispatcher.DispatchHandler & { giveUp(failure: OutboundFailure): void };

const maxAnswerBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024;
const maxInformational = 8;

/**
 * Takes in one answer and finishes exactly once, whatever the other side goes on to do. A body that
 * does not end is cut, and the status that came before it counts; our own mistakes go to `fault`.
 */
function receiver(finish: (answer: OutboundAnswer) => void, fault: (error: Error) => void) {
  const startedAt = performance.now();
  let connection: Dispatcher.DispatchController | undefined;
  let statusCode: number | null = null;
  let retryAfterSeconds: number | null = null;
  let finished = false;
  let informational = 0;
  let bytes = 0;
  const kept: Buffer[] = [];

  function end(failure: OutboundFailure | null) {
    if (finished) return;
    finished = true;
    finish({
      statusCode,
      body: readable(kept, bytes),
      retryAfterSeconds,
      error: failure?.message ?? null,
      errorKind: failure?.kind ?? null,
      durationMs: Math.round(performance.now() - startedAt),
    });
    kept.length = 0;
  }

  /** Finishes before it hangs up: hanging up comes back as an error. */
  function hangUp(failure: OutboundFailure | null) {
    end(failure);
    connection?.abort(failure ?? new Error('the rest is not wanted'));
  }

  const handler: Receiver = {
    giveUp: hangUp,
    onRequestStart(controller) {
      connection = controller;
      if (finished) controller.abort(new Error('given up before it was sent'));
    },
    onResponseStart(_controller, status, headers) {
      if (status >= 200) {
        statusCode = status;
        retryAfterSeconds = secondsOf(headers['retry-after'], Date.now());
      } else if (++informational > maxInformational) hangUp(tooMuchTalk());
    },
    onResponseData(_controller, chunk) {
      // Copied, because the chunk is a view of the whole read buffer and would keep it alive.
      if (bytes < maxKeptBytes) kept.push(Buffer.from(chunk.subarray(0, maxKeptBytes - bytes)));
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) hangUp(null);
    },
    onResponseEnd: () => end(null),
    onResponseError(_controller, error) {
      if (finished) return;
      const failure = failureOf(error);
      if (failure) return end(failure === tooMuch && statusCode !== null ? null : failure);
      finished = true;
      fault(error);
    },
  };
  return handler;
}

const tooMuchTalk = () =>
  new OutboundFailure('protocol', `more than ${maxInformational} informational answers came first`);

/** What of a body can be kept as text: valid UTF-8, without NULs, at most 4 KiB in all. */
function readable(kept: Buffer[], bytes: number): string {
  if (bytes === 0) return '';
  const wasCut = bytes > maxKeptBytes;
  const text = new TextDecoder().decode(Buffer.concat(kept), { stream: wasCut });
  const clean = text.replaceAll('\0', '');
  // What was not UTF-8 has grown: each bad byte became a character of three.
  if (Buffer.byteLength(clean) <= maxKeptBytes) return clean;
  const { read } = new TextEncoder().encodeInto(clean, new Uint8Array(maxKeptBytes));
  return clean.slice(0, read);
}

const seconds = /^\d{1,9}$/;
/** The three forms of a date in HTTP, of which the last one has no zone: all are in GMT. */
const date = /^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d( GMT| \d{4})$/;

/** How long a `Retry-After` header asks to wait: a number of seconds or a date. Null if it says neither. */
export function secondsOf(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  if (seconds.test(text)) return Number(text);
  if (!date.test(text)) return null;
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : Math.max((at - now) / 1000, 0);
}
