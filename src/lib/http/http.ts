import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Span } from '@opentelemetry/api';
import type { Context, ErrorHandler, MiddlewareHandler, Next } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { notFound, Refusal, type RefusalKind } from '../../errors.ts';
import { signal } from '../async/deadline.ts';
import { isDatabaseAway, isDatabaseFull, isPoolBusy } from '../db/db.ts';
import type { Log } from '../log/log.ts';

/**
 * What every request carries; its body once it was read, the tenant that it belongs to once that is known, the name of
 * its span, or of its caller's, for what it causes, and headers of its answer that are not written yet.
 */
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
  too_large: 413,
  unprocessable: 422,
  rate_limited: 429,
  unavailable: 503,
} as const satisfies Record<RefusalKind, ContentfulStatusCode>;

const requestIdForm = /^[A-Za-z0-9_-]{1,128}$/;

export type Layer = (c: Context<RequestEnv>, next: Next) => Promise<void>;

/**
 * Accepts the caller's request id or makes one, echoes it, and publishes the request when it has ended. A header that
 * is asked for in small letters is looked up as it is; of any other spelling a copy is made first.
 */
export const followRequests: Layer = async (c, next) => {
  const began = performance.now();
  const given = c.req.header('x-request-id');
  const requestId = given && requestIdForm.test(given) ? given : randomUUID();
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

/**
 * As it is written, whatever middleware came around it; of a path that leads nowhere there is none. The first route
 * answers: `/surveys/new` where `/surveys/:id` would match too.
 */
export function routeOf(c: Context): string {
  return matchedRoutes(c).find(({ method }) => method !== 'ALL')?.path ?? 'none';
}

/**
 * Refuses an address with the character NUL in it, which Postgres cannot store and no caller means. Everything
 * else that is odd in an address is an id or a word that is not found.
 */
export const refuseNul: MiddlewareHandler = async (c, next) => {
  if (c.req.url.includes('%00')) {
    throw new URL(c.req.url).pathname.includes('%00') ? notFound('path') : unstorable();
  }
  await next();
};

type ShowTrouble = (
  c: Context,
  status: ContentfulStatusCode,
  refusal?: Refusal,
) => Response | undefined;

/** A full disk refuses every request alike: once a minute its cause is enough. */
const logFullEveryMs = 60_000;

export const answerError = (log: Log, showTrouble: ShowTrouble): ErrorHandler<RequestEnv> => {
  let fullLoggedAt = Number.NEGATIVE_INFINITY;
  return (error, c) => {
    if (error instanceof SeeOther) return c.redirect(error.location, 303);
    if (isDatabaseFull(error) && performance.now() - fullLoggedAt >= logFullEveryMs) {
      fullLoggedAt = performance.now();
      log.error({ err: error, route: routeOf(c) }, 'the disk of the database is full');
    }
    const refusal = refusalIn(error);
    if (!refusal) {
      log.error(
        { err: error, request_id: c.var.requestId, route: routeOf(c) },
        'unhandled error in request',
      );
      return showTrouble(c, 500) ?? c.json(errorBody(c, 'internal error', 'internal'), 500);
    }
    const { kind, retryInSeconds } = refusal;
    if (retryInSeconds !== undefined) c.header('Retry-After', String(retryInSeconds));
    // What is left of a body that is too large is not read: the connection cannot be used again.
    if (kind === 'too_large') c.header('Connection', 'close');
    const body = errorBody(c, refusal.message, refusal.code, refusal.details);
    return showTrouble(c, statusOf[kind], refusal) ?? c.json(body, statusOf[kind]);
  };
};

const errorBody = (c: Context<RequestEnv>, error: string, code: string, details = {}) => ({
  error,
  code,
  ...details,
  request_id: c.var.requestId,
});

/** The refusal that an error is or comes to; nothing for a fault. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if ((error as { code?: unknown }).code === '22021') return unstorable();
  if (isDatabaseFull(error)) return full();
  if (isPoolBusy(error)) return busy();
  if (!isDatabaseAway(error)) return undefined;
  return new Refusal('unavailable', 'the database cannot be reached right now, try again shortly', {
    code: 'database_unavailable',
    retryInSeconds: 1,
  });
}

const busy = () =>
  new Refusal('unavailable', 'too many requests of this organization wait, try again shortly', {
    code: 'too_busy',
    retryInSeconds: 2,
  });

const full = () =>
  new Refusal(
    'unavailable',
    'the disk of the database is full, so nothing was stored; try again when its operator has made room',
    { code: 'database_full', retryInSeconds: 10 },
  );

const unstorable = () =>
  new Refusal('invalid', 'the request contains the character NUL, which cannot be stored', {
    code: 'invalid_text',
  });

export class SeeOther extends Error {
  readonly location: string;
  /** Whether a form that was posted is to be offered again instead of being lost. */
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
 * Ends the connections of servers so that no client is cut off in the middle of anything. Nothing new is
 * accepted: what waits in the queue of a socket that others hold too is left to them. Requests in flight finish;
 * the others have a moment for one more, whose answer says that the connection ends with it.
 */
export function createDrain(servers: readonly Server[]) {
  const silent = new Set<Socket>();
  let draining = false;
  for (const server of servers) watch(server);

  return async (limitMs = requestsLimitMs) => {
    draining = true;
    const over = AbortSignal.timeout(limitMs);
    const closed = Promise.all(servers.map((server) => once(server, 'close')));
    for (const server of servers) stopAccepting(server);
    void dropIdle(over);
    await Promise.race([closed, once(over, 'abort')]);
    for (const server of servers) server.closeAllConnections();
  };

  function watch(server: Server) {
    server.on('connection', (socket: Socket) => {
      silent.add(socket);
      socket.once('close', () => silent.delete(socket));
    });
    server.prependListener('request', (request, response) => {
      silent.delete(request.socket);
      if (draining) response.setHeader('Connection', 'close');
    });
  }

  async function dropIdle(over: AbortSignal) {
    const patient = performance.now() + lastWordMs;
    while (!over.aborted && (await connections(servers)) > 0) {
      if (performance.now() > patient) hangUp();
      await sleep(pollMs, undefined, { ref: false });
    }
  }

  function hangUp() {
    for (const server of servers) server.closeIdleConnections();
    for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
  }
}

/** An HTTP server that is closed hangs up at once on a client that is between two requests; this one does not. */
const stopAccepting = (server: Server) => NetServer.prototype.close.call(server);

async function connections(servers: readonly Server[]): Promise<number> {
  const counts = servers.map((server) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    server.getConnections((_error, count) => resolve(count));
    return promise;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/**
 * How to ask whether the client has closed its connection, so that it gets no answer. What it asked to be written it may
 * still want. The function leads to the connection and not to the request: the turn of a statement outlives both in
 * memory, and each request that it kept was copied at the next two collections.
 */
export const watchCaller = (c: Context): (() => boolean) => watch(c.env?.incoming?.socket);

const watch = (socket: Socket | undefined) => () => socket?.destroyed === true;
