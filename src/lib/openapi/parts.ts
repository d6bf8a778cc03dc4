import * as v from 'valibot';
import type { Schema } from './json-schema.ts';

/** What all operations have in common, said once. */

/** The body of every refusal. */
export const Failure = v.pipe(
  v.object({
    error: v.pipe(v.string(), v.description('a sentence to act on')),
    code: v.pipe(v.string(), v.description('a stable word for programs')),
    request_id: v.pipe(v.string(), v.description('what X-Request-Id says, for asking about it')),
  }),
  v.description('Why a request was refused.'),
);

const text = (description: string) => ({ description, schema: { type: 'string' } });

export const headers = {
  'X-Request-Id': text('The request id that was given, or one that was made.'),
  'RateLimit-Policy': text('The limit: `"default";q=100;w=60` is 100 requests in a clock minute.'),
  RateLimit: text(
    'What is left of it: `"default";r=42;t=17` is 42 requests for another 17 seconds.',
  ),
  'Idempotent-Replayed': text('`true` when the answer is the stored one of an earlier request.'),
  'X-Ignored-Fields': text(
    'Fields of the body that are not known and were ignored, such as misspelt ones.',
  ),
  ETag: text('Of this answer: in `If-None-Match` it asks whether there is another by now.'),
  Link: text('With `rel="next"` the page after this one of a list.'),
  'Retry-After': text('After how many seconds it is worth trying again.'),
};

/** Page and limit are checked as the text they come as, and meant as numbers. */
export const paging: Readonly<Record<string, { about: string; schema: Schema }>> = {
  page: {
    about: 'which page',
    schema: { type: 'integer', minimum: 1, default: 1 },
  },
  limit: {
    about: 'rows on a page; more than 200 counts as 200',
    schema: { type: 'integer', minimum: 1, default: 50 },
  },
  cursor: {
    about: 'the `meta.next_cursor` of the page before; takes the place of `page`',
    schema: { type: 'string', minLength: 1, pattern: '^[A-Za-z0-9_-]+$' },
  },
};

/** What a refusal looks like, by its status; one status may have several codes, which its description names. */
export const failureExamples: Readonly<Record<string, { error: string; code: string }>> = {
  400: { error: 'limit: must be a whole number from 1', code: 'invalid' },
  401: {
    error:
      'the API key is missing, unknown, revoked or expired: send one as Authorization: Bearer KEY, or as X-API-Key: KEY',
    code: 'unauthorized',
  },
  403: { error: 'this API key has no write permission', code: 'forbidden' },
  404: { error: 'contact not found', code: 'not_found' },
  409: {
    error: 'a request with this Idempotency-Key is still running, try again',
    code: 'idempotency_key_running',
  },
  410: { error: 'the person whose words this delivery carried was erased', code: 'erased' },
  413: { error: 'the body is larger than 1048576 bytes', code: 'body_too_large' },
  422: {
    error: 'this Idempotency-Key was used for another request',
    code: 'idempotency_key_reused',
  },
  429: { error: 'rate limit exceeded: max 100 requests per minute', code: 'rate_limited' },
  500: { error: 'internal error', code: 'internal' },
  503: {
    error: 'the database cannot be reached right now, try again shortly',
    code: 'database_unavailable',
  },
};

export const exampleRequestId = '0b8f6a1e-7d3c-4c55-9f0a-2e4d6b8c1a37';

type Asked = { method: string; path: string; permission: string; body?: unknown };

/** The refusals that follow from the form of an operation. */
export function commonAnswers({ method, path, permission, body }: Asked) {
  return {
    ...(method === 'get' &&
      permission !== 'none' && {
        304: { about: 'nothing has changed since the answer with this `ETag`', bare: true },
      }),
    400: { about: 'a field or parameter is missing or invalid' },
    ...(permission !== 'none' && {
      401: { about: 'the API key is missing, unknown, revoked or expired' },
    }),
    ...(permission === 'write' && { 403: { about: 'the API key has no write permission' } }),
    ...(path.includes('{') && {
      404: { about: permission === 'none' ? 'no such link' : 'not found in the organization' },
    }),
    ...(method === 'post' &&
      permission !== 'none' && {
        409: { about: 'a request with this Idempotency-Key is still running' },
        422: { about: 'this Idempotency-Key was used for another request' },
      }),
    ...((body || method === 'post') && { 413: { about: 'the body is larger than 1 MiB' } }),
    429: { about: 'the rate limit was exceeded' },
    500: { about: 'a fault of the service; says nothing of its cause' },
    503: { about: 'the database cannot be reached right now' },
  };
}
