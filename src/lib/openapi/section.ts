import type * as v from 'valibot';
import type { Named, Schema } from './json-schema.ts';

/**
 * How a room describes its endpoints. Next to its `routes.ts` it has an `operations.ts` that exports one `ApiSection`:
 *
 *   export const tagSection: ApiSection = {
 *     name: 'Tags',                          // the heading its operations stand under
 *     about: 'Words to sort surveys by.',
 *     schemas: { Tag },                      // what answers are made of, by public and frozen names
 *     operations: [
 *       {
 *         id: 'listTags',                    // unique; client generators make a function of it
 *         method: 'get',
 *         path: '/api/v1/tags',              // parameters as {id}: UUIDs, unless `parameters` says otherwise
 *         summary: 'List tags',
 *         permission: 'read',
 *         answer: { status: 200, about: 'all tags, by name', schema: TagList },
 *       },
 *     ],
 *   };
 *
 * and `api.ts` lists it. `query` and `body` are the very schemas that the route parses with, so the document
 * cannot say anything else than what is checked. What every operation has is added here and not repeated:
 * the key, the rate limit, 400, 401, 429, 500, 503; for a path with an id 404; for a write key 403; for a
 * POST `Idempotency-Key`, 409 and 422; for a body 413. `refusals` names what comes on top, or says more.
 * With `permission: 'none'` an operation takes no key, and has neither the limits of keys nor their repeats.
 */
export type ApiSection = {
  name: string;
  about: string;
  schemas: Named;
  operations: readonly Operation[];
};

export type Operation = {
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: string;
  summary: string;
  about?: string;
  permission: 'read' | 'write' | 'none';
  /** Parameters in the path that are no UUIDs. */
  parameters?: Readonly<Record<string, { about: string; schema: Schema }>>;
  query?: v.ObjectSchema<v.ObjectEntries, undefined>;
  body?: v.GenericSchema;
  bodyOptional?: boolean;
  /** What a body that is no JSON but a mail message should hold. */
  message?: string;
  answer: DescribedSuccess;
  /** Another answer of success, such as that of a dry run. */
  also?: DescribedSuccess;
  refusals?: Readonly<Record<number, DescribedRefusal>>;
};

export type DescribedSuccess = {
  status: 200 | 201 | 202 | 204;
  about: string;
  schema?: v.GenericSchema;
  /** An answer that is a file and no JSON: the media types that it may have. */
  files?: Readonly<Record<string, string>>;
};

export type DescribedRefusal = {
  about: string;
  schema?: v.GenericSchema;
  /** Without a body. */
  bare?: boolean;
  /** Of its body, where the one of its status does not fit. */
  example?: { error: string; code: string };
};

/** A request that this service makes to a subscriber. */
export type Message = { type: string; about: string; payload: v.GenericSchema };

/** What stands in the path of an operation, what is sent, what is answered. */
export type Example = {
  path?: Readonly<Record<string, string>>;
  body?: unknown;
  answer?: unknown;
  also?: unknown;
  /** Of a body that is a mail message, and of answers that are files, by their format. */
  message?: string;
  files?: Readonly<Record<string, string>>;
};
