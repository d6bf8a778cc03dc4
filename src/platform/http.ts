import { randomUUID } from 'node:crypto';
import type { Context, ErrorHandler, MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { GenericSchema } from 'valibot';
import { Refusal, type RefusalKind } from '../errors.ts';
import { isDatabaseAway } from './db.ts';
import type { Log } from './log.ts';
import { parse } from './parse.ts';

/** What every request carries. */
export type RequestEnv = { Variables: { requestId: string } };

const statusOf = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unprocessable: 422,
  rate_limited: 429,
  unavailable: 503,
} as const satisfies Record<RefusalKind, ContentfulStatusCode>;

const largestBody = 1024 * 1024;
const requestIdForm = /^[A-Za-z0-9_-]{1,128}$/;

/** Accepts the caller's request id or makes one, and echoes it. */
export const nameRequests: MiddlewareHandler<RequestEnv> = async (c, next) => {
  const given = c.req.header('X-Request-Id');
  const requestId = given && requestIdForm.test(given) ? given : randomUUID();
  c.set('requestId', requestId);
  c.header('X-Request-Id', requestId);
  await next();
};

/** The one place where an error becomes an answer. */
export const answerError =
  (log: Log): ErrorHandler<RequestEnv> =>
  (error, c) => {
    const refusal = asRefusal(error);
    if (!refusal) {
      log.error({ err: error, request_id: c.var.requestId, path: c.req.routePath }, 'fault');
      return c.json(errorBody(c, 'internal error', 'internal'), 500);
    }
    const body = errorBody(c, refusal.message, refusal.code, refusal.details);
    return c.json(body, statusOf[refusal.kind]);
  };

const errorBody = (c: Context<RequestEnv>, error: string, code: string, details = {}) => ({
  error,
  code,
  ...details,
  request_id: c.var.requestId,
});

function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (!isDatabaseAway(error)) return undefined;
  return new Refusal('unavailable', 'the database cannot be reached right now, try again shortly', {
    code: 'database_unavailable',
  });
}

/** The checked JSON body. With `optional`, a request without one counts as an empty object. */
export async function parseBody<const S extends GenericSchema>(
  c: Context,
  schema: S,
  { optional = false } = {},
) {
  const text = await readBody(c);
  if (optional && text === '') return parse(schema, {});
  return parse(schema, parseJson(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('invalid', 'the body is not JSON', { code: 'invalid_json' });
  }
}

/** The body as text, read no further than its limit. Reading it twice is free. */
export async function readBody(c: Context): Promise<string> {
  const declared = Number(c.req.header('Content-Length') ?? 0);
  if (declared > largestBody) throw tooLarge();
  const text = await c.req.text();
  if (Buffer.byteLength(text) > largestBody) throw tooLarge();
  return text;
}

const tooLarge = () =>
  new Refusal('too_large', `the body is larger than ${largestBody} bytes`, {
    code: 'body_too_large',
  });
