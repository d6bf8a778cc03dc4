// The HTTP server: listening and draining, bodies and their limits, request ids, errors as answers, spans of requests.

import { randomUUID } from 'node:crypto';
import type { Span } from '@opentelemetry/api';
import type { Context, ErrorHandler, MiddlewareHandler, Next } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { notFound, Refusal, type RefusalKind } from '../../errors.ts';
import { signal } from '../async/signal.ts';
import { isDatabaseAway, isDatabaseFull, isPoolBusy } from '../db/db.ts';
import type { Log } from '../log/log.ts';
import { SeeOther } from './see-other.ts';

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
    answerHeaders?: Readonly<Record<string, string>>;
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

/** What comes around all requests. */
export type Layer = (c: Context<RequestEnv>, next: Next) => Promise<void>;

/** Two layers as one: each layer of the framework makes promises of its own for each request. */
export const around =
  (outer: Layer, inner: Layer): Layer =>
  (c, next) =>
    outer(c, () => inner(c, next));

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
  checkNul(c);
  await next();
};

export function checkNul(c: Context) {
  if (!c.req.url.includes('%00')) return;
  throw new URL(c.req.url).pathname.includes('%00') ? notFound('path') : unstorable();
}

/** A failed request as a page, when it was a person's; a program gets nothing from it, and so JSON. */
type ShowTrouble = (
  c: Context,
  status: ContentfulStatusCode,
  refusal?: Refusal,
) => Response | undefined;

/** A full disk refuses every request alike: once a minute its cause is enough. */
const logFullEveryMs = 60_000;

/** The one place where an error becomes an answer. */
export const answerError = (log: Log, showTrouble: ShowTrouble): ErrorHandler<RequestEnv> => {
  let fullLoggedAt = Number.NEGATIVE_INFINITY;
  return (error, c) => {
    if (error instanceof SeeOther) return c.redirect(error.location, 303);
    for (const [name, value] of Object.entries(c.get('answerHeaders') ?? {})) c.header(name, value);
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
