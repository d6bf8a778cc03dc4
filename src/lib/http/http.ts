import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Span } from '@opentelemetry/api';
import type { Context, ErrorHandler, MiddlewareHandler, Next } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorCode, errorCodes, notFound, Refusal, statusOf } from '../../errors.ts';
import { signal } from '../async/deadline.ts';
import { isDatabaseAway, isDatabaseFull, isPoolBusy } from '../db/db.ts';
import type { Log } from '../log/log.ts';

/** `traceparent` names the span of the request, or the span of its caller if tracing is off. */
export type RequestEnv = {
  Variables: {
    requestId: string;
    body?: string;
    tenant?: string;
    traceparent?: string;
    startedAt?: number;
    span?: Span;
  };
};

export type EndedRequest = {
  method: string;
  /** The route pattern such as `/s/:token`, because the path may contain a secret. */
  route: string;
  status: number;
  ms: number;
  requestId: string;
  tenant: string | null;
  traceparent: string | null;
};

export const requestEnded = signal<EndedRequest>();

const requestIdForm = /^[A-Za-z0-9_-]{1,128}$/;

export type Layer = (c: Context<RequestEnv>, next: Next) => Promise<void>;

/** Accepts or makes the request id, echoes it, and publishes `requestEnded`. Lower-case header names avoid a copy. */
export const followRequests: Layer = async (c, next) => {
  const startedAt = performance.now();
  const header = c.req.header('x-request-id');
  const requestId = header && requestIdForm.test(header) ? header : randomUUID();
  c.set('requestId', requestId);
  c.header('X-Request-Id', requestId);
  await next();
  requestEnded.publish({
    method: c.req.method,
    route: routeOf(c),
    status: c.res.status,
    ms: performance.now() - startedAt,
    requestId,
    tenant: c.get('tenant') ?? null,
    traceparent: c.get('traceparent') ?? null,
  });
};

/** The first matching route that is not middleware. */
export function routeOf(c: Context): string {
  return matchedRoutes(c).find(({ method }) => method !== 'ALL')?.path ?? 'none';
}

/** Refuses URLs with NUL, which Postgres cannot store. */
export const refuseNul: MiddlewareHandler = async (c, next) => {
  if (c.req.url.includes('%00')) {
    throw new URL(c.req.url).pathname.includes('%00') ? notFound('path') : unstorable();
  }
  await next();
};

type ShowErrorPage = (
  c: Context,
  status: ContentfulStatusCode,
  refusal?: Refusal,
) => Response | undefined;

/** A full disk fails every request, so it is logged at most once a minute. */
const logFullEveryMs = 60_000;

export const answerError = (log: Log, showErrorPage: ShowErrorPage): ErrorHandler<RequestEnv> => {
  let fullLoggedAt = Number.NEGATIVE_INFINITY;
  return (error, c) => {
    if (error instanceof SeeOther) return c.redirect(error.location, 303);
    if (isDatabaseFull(error) && performance.now() - fullLoggedAt >= logFullEveryMs) {
      fullLoggedAt = performance.now();
      log.error({ err: error, route: routeOf(c) }, 'the disk of the database is full');
    }
    const request_id = c.var.requestId;
    const refusal = refusalIn(error);
    if (!refusal) {
      log.error({ err: error, request_id, route: routeOf(c) }, 'unhandled error in request');
      const body = { error: errorCodes.internal.error, code: 'internal', request_id };
      return showErrorPage(c, 500) ?? c.json(body, 500);
    }
    const { kind, message, code, details, retryInSeconds } = refusal;
    if (retryInSeconds !== undefined) c.header('Retry-After', String(retryInSeconds));
    // The rest of the body is not read, so the connection cannot be reused.
    if (kind === 'too_large') c.header('Connection', 'close');
    const body = { error: message, code, ...details, request_id };
    return showErrorPage(c, statusOf[kind], refusal) ?? c.json(body, statusOf[kind]);
  };
};

/** Converts an error to a refusal if the caller can act on it. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if ((error as { code?: unknown }).code === '22021') return unstorable();
  if (isDatabaseFull(error)) return unavailable('database_full', 10);
  if (isPoolBusy(error)) return unavailable('too_busy', 2);
  return isDatabaseAway(error) ? unavailable('database_unavailable', 1) : undefined;
}

const unavailable = (code: ErrorCode, retryInSeconds: number) =>
  new Refusal('unavailable', errorCodes[code].error, { code, retryInSeconds });

const unstorable = () =>
  new Refusal('invalid', errorCodes.invalid_text.error, { code: 'invalid_text' });

export class SeeOther extends Error {
  readonly location: string;
  /** Instead of a redirect, a posted form gets a page that can submit it again. */
  readonly keepsForm: boolean;

  constructor(location: string, { keepsForm = false }: { keepsForm?: boolean } = {}) {
    super(`see ${location}`);
    this.name = 'SeeOther';
    this.location = location;
    this.keepsForm = keepsForm;
  }
}

/** The time limit of requests in flight at shutdown. */
export const requestsLimitMs = 12_000;
/** Idle and new connections may send one more request within this time. */
const idleGraceMs = 500;
const pollMs = 20;

/** Graceful shutdown: requests in flight finish, and idle connections get a moment for one last request. */
export function createDrain(servers: readonly Server[]) {
  const silent = new Set<Socket>();
  let draining = false;
  for (const server of servers) {
    server.on('connection', (socket: Socket) => {
      silent.add(socket);
      socket.once('close', () => silent.delete(socket));
    });
    server.prependListener('request', (request, response) => {
      silent.delete(request.socket);
      if (draining) response.setHeader('Connection', 'close');
    });
  }

  return async (limitMs = requestsLimitMs) => {
    draining = true;
    const timeout = AbortSignal.timeout(limitMs);
    const closed = Promise.all(servers.map((server) => once(server, 'close')));
    for (const server of servers) stopAccepting(server);
    void closeIdle(timeout);
    await Promise.race([closed, once(timeout, 'abort')]);
    for (const server of servers) server.closeAllConnections();
  };

  async function closeIdle(timeout: AbortSignal) {
    const graceEndsAt = performance.now() + idleGraceMs;
    while (!timeout.aborted && (await hasConnections(servers))) {
      if (performance.now() > graceEndsAt) {
        for (const server of servers) server.closeIdleConnections();
        for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
      }
      await sleep(pollMs, undefined, { ref: false });
    }
  }
}

/** `close` of an HTTP server would close idle connections at once, but `close` of a TCP server does not. */
const stopAccepting = (server: Server) => NetServer.prototype.close.call(server);

async function hasConnections(servers: readonly Server[]): Promise<boolean> {
  const counts = servers.map((server) => promisify(server.getConnections.bind(server))());
  return (await Promise.all(counts)).some((count) => count > 0);
}
