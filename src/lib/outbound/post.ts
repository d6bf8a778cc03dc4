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

/** The outcome of a post. It counts as answered only without an error, whatever its status. */
export type OutboundAnswer = {
  statusCode: number | null;
  body: string;
  retryAfterSeconds: number | null;
  error: string | null;
  errorKind: FailureKind | null;
  durationMs: number;
};

export type Post = {
  /** Groups share the connections to a host fairly, and the lines of a group, such as its webhooks, share its own. */
  group: string;
  line?: string;
  headers: Record<string, string>;
  body: string;
  deadlineMs: number;
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
 * The one way to talk to addresses that others gave us. Whatever happens there is an outcome, returned within the
 * deadline; only a mistake of our own is thrown.
 */
export function createOutbound({ allow, http, perHostConnections, resolve }: Settings) {
  const rules = { allow: parseAllowList(allow), http };
  const names = createResolve({ systemNames: allow.length > 0 });
  const guard = { allow: rules.allow, resolve: resolve ?? names.resolve };
  const reserve = Math.floor(perHostConnections / reservedShare);
  const slots = createSemaphores({
    slots: perHostConnections,
    reserve,
    reserveForLines: reserve / 2,
  });
  let agent: Promise<Agent> | undefined;

  /** Called by the first post: a service without subscribers starts sooner, and smaller. */
  async function loadAgent(): Promise<Agent> {
    const { Agent } = await import('undici');
    return new Agent({
      connect: guardedConnector(guard),
      // A slot is free a moment before its connection is: without this a new one would be made.
      connections: perHostConnections,
      allowH2: false,
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: idleConnectionMs,
      keepAliveMaxTimeout: maxIdleConnectionMs,
      // Both only watch the time between two pieces; the deadline watches the whole.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  function post(url: string, { group, line, headers, body, deadlineMs }: Post) {
    const { promise, resolve: finish, reject } = Promise.withResolvers<OutboundAnswer>();
    const answering = receiver(finish, reject);
    const complaint = judgeTarget(url, rules);
    if (complaint) {
      answering.giveUp(new OutboundFailure('forbidden', complaint));
      return promise;
    }
    const target = new URL(url);
    let sent = false;
    const start = () => {
      sent = true;
      agent ??= loadAgent();
      const request = {
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'POST',
        headers: { ...headers, 'accept-encoding': 'identity' },
        body,
      } as const;
      agent.then((it) => it.dispatch(request, answering)).catch(reject);
    };
    const leave = slots.enter(hostOf(target), group, start, line);
    const timer = setTimeout(() => {
      answering.giveUp(
        sent
          ? new OutboundFailure('timeout', `no complete answer within ${deadlineMs / 1000} s`)
          : new OutboundFailure('busy', 'too many requests to this host are under way'),
      );
    }, deadlineMs);
    return promise.finally(() => {
      clearTimeout(timer);
      leave();
    });
  }

  /** The reason why a URL must not be posted to, as a sentence, or null. A name may not resolve yet. */
  async function judge(url: string): Promise<string | null> {
    const complaint = judgeTarget(url, rules);
    if (complaint) return complaint;
    try {
      await judgedAddresses(guard, hostOf(new URL(url)));
      return null;
    } catch (error) {
      return error instanceof OutboundFailure && error.kind === 'forbidden' ? error.message : null;
    }
  }

  async function close() {
    names.close();
    await (await agent)?.destroy();
  }

  return { post, judge, close };
}

type Receiver = Dispatcher.DispatchHandler & { giveUp(failure: OutboundFailure): void };

const maxAnswerBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024;

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
      if (status < 200) return;
      statusCode = status;
      retryAfterSeconds = secondsOf(headers['retry-after'], Date.now());
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

/** The beginning of a body as text: valid UTF-8, without NULs, at most 4 KiB. */
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

/** Reads a `Retry-After` header: a number of seconds or a date. Null if it is neither. */
export function secondsOf(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== 'string') return null;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  // `Date.parse` takes -3 and 0.5 for dates. Those of HTTP begin with a day of the week.
  const at = /^\s*[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max((at - now) / 1000, 0);
}
