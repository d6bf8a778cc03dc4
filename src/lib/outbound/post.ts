import type { Agent, Dispatcher } from 'undici';
import { createSemaphores } from '../async/semaphore.ts';
import {
  answerTooLarge,
  checkTarget,
  createResolve,
  type FailureKind,
  failureOf,
  guardedConnector,
  hostOf,
  OutboundFailure,
  parseAllowList,
  type Resolve,
  resolveAllowed,
} from './connect.ts';

/** The outcome of a POST. A null `error` means that the receiver responded, whatever the status. */
export type OutboundAnswer = {
  statusCode: number | null;
  body: string;
  retryAfterSeconds: number | null;
  error: string | null;
  errorKind: FailureKind | null;
  durationMs: number;
};

export type Post = {
  /** Connections to a host are shared fairly between groups, and within a group between its lines, such as webhooks. */
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

/** Posts to URLs that users entered. Every failure of the receiver becomes an outcome in time. Only our bugs throw. */
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

  /** Loads undici on first use, for a faster start and less memory without webhooks. */
  async function loadAgent(): Promise<Agent> {
    const { Agent } = await import('undici');
    return new Agent({
      connect: guardedConnector(guard),
      // A slot becomes free a moment before its connection, so undici would open another one without this limit.
      connections: perHostConnections,
      allowH2: false,
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: idleConnectionMs,
      keepAliveMaxTimeout: maxIdleConnectionMs,
      // Off: both limit the time between two pieces, and our deadline limits the whole request.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  function post(url: string, { group, line, headers, body, deadlineMs }: Post) {
    const { promise, resolve: finish, reject } = Promise.withResolvers<OutboundAnswer>();
    const answering = receiver(finish, reject);
    const complaint = checkTarget(url, rules);
    if (complaint) {
      answering.cancel(new OutboundFailure('forbidden', complaint));
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
      answering.cancel(
        sent
          ? new OutboundFailure('timeout', `no complete response within ${deadlineMs / 1000} s`)
          : new OutboundFailure('busy', 'too many requests to this host are in progress'),
      );
    }, deadlineMs);
    return promise.finally(() => {
      clearTimeout(timer);
      leave();
    });
  }

  /** Checks a URL and the addresses of its host. Returns the error or null. The name need not resolve yet. */
  async function check(url: string): Promise<string | null> {
    const complaint = checkTarget(url, rules);
    if (complaint) return complaint;
    try {
      await resolveAllowed(guard, hostOf(new URL(url)));
      return null;
    } catch (error) {
      return error instanceof OutboundFailure && error.kind === 'forbidden' ? error.message : null;
    }
  }

  async function close() {
    names.close();
    await (await agent)?.destroy();
  }

  return { post, check, close };
}

type Receiver = Dispatcher.DispatchHandler & { cancel(failure: OutboundFailure): void };

const maxAnswerBytes = 64 * 1024;
const maxBodyBytes = 4 * 1024;

/**
 * Receives one answer and calls `finish` once. Cuts a body above the limit, but keeps its status. Bugs go to `fault`.
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
      body: decodeBody(kept, bytes),
      retryAfterSeconds,
      error: failure?.message ?? null,
      errorKind: failure?.kind ?? null,
      durationMs: Math.round(performance.now() - startedAt),
    });
    kept.length = 0;
  }

  /** Finishes first, because the abort is reported as an error. */
  function abort(failure: OutboundFailure | null) {
    end(failure);
    connection?.abort(failure ?? new Error('the response is too large'));
  }

  const handler: Receiver = {
    cancel: abort,
    onRequestStart(controller) {
      connection = controller;
      if (finished) controller.abort(new Error('canceled before it was sent'));
    },
    onResponseStart(_controller, status, headers) {
      if (status < 200) return;
      statusCode = status;
      retryAfterSeconds = parseRetryAfter(headers['retry-after'], Date.now());
    },
    onResponseData(_controller, chunk) {
      // Copied, because the chunk would keep its whole read buffer in memory.
      if (bytes < maxBodyBytes) kept.push(Buffer.from(chunk.subarray(0, maxBodyBytes - bytes)));
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) abort(null);
    },
    onResponseEnd: () => end(null),
    onResponseError(_controller, error) {
      if (finished) return;
      const failure = failureOf(error);
      if (failure) return end(failure === answerTooLarge && statusCode !== null ? null : failure);
      finished = true;
      fault(error);
    },
  };
  return handler;
}

/** The first 4 KiB of a body as valid UTF-8 without NULs. */
function decodeBody(kept: Buffer[], bytes: number): string {
  if (bytes === 0) return '';
  const wasCut = bytes > maxBodyBytes;
  const text = new TextDecoder().decode(Buffer.concat(kept), { stream: wasCut });
  const clean = text.replaceAll('\0', '');
  // Each invalid byte became a character of three bytes.
  if (Buffer.byteLength(clean) <= maxBodyBytes) return clean;
  const { read } = new TextEncoder().encodeInto(clean, new Uint8Array(maxBodyBytes));
  return clean.slice(0, read);
}

/** Parses seconds or a date. Null if it is neither. */
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== 'string') return null;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  // `Date.parse` accepts -3 and 0.5. HTTP dates begin with a weekday.
  const at = /^\s*[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max((at - now) / 1000, 0);
}
