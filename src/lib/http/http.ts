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
import { notFound, Refusal, type RefusalKind } from '../../errors.ts';
import { signal } from '../async/deadline.ts';
import { isDatabaseAway, isDatabaseFull, isPoolBusy } from '../db/db.ts';
import type { Log } from '../log/log.ts';

/** `traceparent` names the span of the request, or of its caller. */
export type RequestEnv = {
  Variables: {
    requestId: string;
    body?: string;
    tenant?: string;
    traceparent?: string;
    began?: number;
    span?: Span;
  };
};

export type EndedRequest = {
  method: string;
  /** The route as it is written, `/s/:token`; never the path, which may hold a secret. */
  route: string;
  status: number;
  ms: number;
  requestId: string;
  tenant: string | null;
  traceparent: string | null;
};

export const requestEnded = signal<EndedRequest>();

export const statusOf = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  unprocessable: 422,
  rate_limited: 429,
  unavailable: 503,
} as const satisfies Record<RefusalKind, ContentfulStatusCode>;

const requestIdForm = /^[A-Za-z0-9_-]{1,128}$/;

export type Layer = (c: Context<RequestEnv>, next: Next) => Promise<void>;

/**
 * Accepts the caller's request id or makes one, echoes it, and publishes the request when it has ended. Header names in
 * small letters are looked up without a copy.
 */
export const followRequests: Layer = async (c, next) => {
  const began = performance.now();
  const sent = c.req.header('x-request-id');
  const requestId = sent && requestIdForm.test(sent) ? sent : randomUUID();
  c.set('requestId', requestId);
  c.header('X-Request-Id', requestId);
  await next();
  requestEnded.publish({
    method: c.req.method,
    route: routeOf(c),
    status: c.res.status,
    ms: performance.now() - began,
    requestId,
    tenant: c.get('tenant') ?? null,
    traceparent: c.get('traceparent') ?? null,
  });
};

/** The first matching route that is no middleware: `/surveys/new`, where `/surveys/:id` would match too. */
export function routeOf(c: Context): string {
  return matchedRoutes(c).find(({ method }) => method !== 'ALL')?.path ?? 'none';
}

/** Refuses an address with the character NUL, which Postgres cannot store. */
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

/** A full disk refuses every request: its cause is logged once a minute. */
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
      const body = { error: 'internal error', code: 'internal', request_id };
      return showErrorPage(c, 500) ?? c.json(body, 500);
    }
    const { kind, message, code, details, retryInSeconds } = refusal;
    if (retryInSeconds !== undefined) c.header('Retry-After', String(retryInSeconds));
    // The rest of a body that is too large is not read: the connection cannot be used again.
    if (kind === 'too_large') c.header('Connection', 'close');
    const body = { error: message, code, ...details, request_id };
    return showErrorPage(c, statusOf[kind], refusal) ?? c.json(body, statusOf[kind]);
  };
};

/** The refusal for an error that the caller can act on; nothing for a fault. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if ((error as { code?: unknown }).code === '22021') return unstorable();
  if (isDatabaseFull(error)) {
    return new Refusal(
      'unavailable',
      'the disk of the database is full, so nothing was stored; try again when its operator has made room',
      { code: 'database_full', retryInSeconds: 10 },
    );
  }
  if (isPoolBusy(error)) {
    return new Refusal(
      'unavailable',
      'too many requests of this organization wait, try again shortly',
      { code: 'too_busy', retryInSeconds: 2 },
    );
  }
  if (!isDatabaseAway(error)) return undefined;
  return new Refusal('unavailable', 'the database cannot be reached right now, try again shortly', {
    code: 'database_unavailable',
    retryInSeconds: 1,
  });
}

const unstorable = () =>
  new Refusal('invalid', 'the request contains the character NUL, which cannot be stored', {
    code: 'invalid_text',
  });

export class SeeOther extends Error {
  readonly location: string;
  /** A posted form is offered again after the redirect. */
  readonly keepsForm: boolean;

  constructor(location: string, { keepsForm = false }: { keepsForm?: boolean } = {}) {
    super(`see ${location}`);
    this.name = 'SeeOther';
    this.location = location;
    this.keepsForm = keepsForm;
  }
}

/** How long a request that is in flight when we are asked to stop may take. */
export const requestsLimitMs = 12_000;
/** A client that is between two requests, or has only just connected, may say one last thing. */
const lastWordMs = 500;
const pollMs = 20;

/**
 * Ends the connections of servers without cutting a client off. Clients in the queue of a socket that others hold too
 * are left to them. Requests in flight finish; idle connections have a moment for one more, whose answer closes them.
 */
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
    const over = AbortSignal.timeout(limitMs);
    const closed = Promise.all(servers.map((server) => once(server, 'close')));
    for (const server of servers) stopAccepting(server);
    void dropIdle(over);
    await Promise.race([closed, once(over, 'abort')]);
    for (const server of servers) server.closeAllConnections();
  };

  async function dropIdle(over: AbortSignal) {
    const patient = performance.now() + lastWordMs;
    while (!over.aborted && (await hasConnections(servers))) {
      if (performance.now() > patient) {
        for (const server of servers) server.closeIdleConnections();
        for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
      }
      await sleep(pollMs, undefined, { ref: false });
    }
  }
}

/** An HTTP server that is closed hangs up at once on a client that is between two requests; this one does not. */
const stopAccepting = (server: Server) => NetServer.prototype.close.call(server);

async function hasConnections(servers: readonly Server[]): Promise<boolean> {
  const counts = servers.map((server) => promisify(server.getConnections.bind(server))());
  return (await Promise.all(counts)).some((count) => count > 0);
}

/**
 * Tells whether the client has closed its connection. The function holds the connection and not the request, which it
 * would keep in memory as long as the wait for a statement lasts.
 */
export const watchCaller = (c: Context): (() => boolean) => watch(c.env?.incoming?.socket);

const watch = (socket: Socket | undefined) => () => socket?.destroyed === true;
