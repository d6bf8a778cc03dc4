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
