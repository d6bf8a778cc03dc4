import { type JsonSchema, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import * as v from 'valibot';
import type {
  Content,
  Described,
  DescribedAnswer,
  DescribedRefusal,
  DescribedSuccess,
  Example,
  Operation,
  Parameter,
} from './openapi.ts';

type Place = { section: string; named: Named; example: Example };

/** One operation in OpenAPI, with everything that follows from its form. */
export function describeOperation(
  operation: Operation,
  { section, named, example }: Place,
): Described {
  const { id, method, summary, about, permission, body, bodyOptional = false } = operation;
  return {
    operationId: id,
    tags: [section],
    summary,
    ...(about && { description: about }),
    security: permission === 'none' ? [] : [{ apiKey: [permission] }, { bearer: [permission] }],
    parameters: [
      ...pathParameters(operation, example.path),
      ...queryParameters(operation.query, named),
      ...(method === 'post' && permission !== 'none' ? [idempotencyKey] : []),
    ],
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        content: json(jsonSchema(body, 'input', named), example.body),
      },
    }),
    ...(operation.message && {
      requestBody: { required: true, content: messageContent(operation.message, example.message) },
    }),
    responses: { ...successes(operation, named, example), ...refusals(operation, named) },
  };
}

/** Some client generators leave out an operation whose media type they do not know: all know bytes. */
const messageContent = (description: string, example: string | undefined): Content => ({
  'message/rfc822': { schema: { type: 'string', description }, ...(example && { example }) },
  'application/octet-stream': {
    schema: { type: 'string', format: 'binary', description },
    ...(example && { example }),
  },
});

function successes(operation: Operation, named: Named, examples: Example) {
  const { method, permission, body } = operation;
  const names =
    permission === 'none'
      ? ['X-Request-Id']
      : Object.keys(headers).filter(
          (name) => (onlyOf[name] ?? method) === method && (body || name !== 'X-Ignored-Fields'),
        );
  const describe = ({ status, about, schema, files }: DescribedSuccess, example: unknown) => {
    const fileContents = Object.entries(files ?? {}).map(([format, type]) => {
      const fileExample = examples.files?.[format];
      return [
        type.split(';')[0],
        { schema: { type: 'string' }, ...(fileExample !== undefined && { example: fileExample }) },
      ];
    });
    return {
      [status]: {
        description: about,
        headers: Object.fromEntries(names.map((name) => [name, headerRef(name)])),
        ...(schema && { content: json(jsonSchema(schema, 'output', named), example) }),
        ...(files && { content: Object.fromEntries(fileContents) as Content }),
      },
    };
  };
  return {
    ...describe(operation.answer, examples.answer),
    ...(operation.also && describe(operation.also, examples.also)),
  };
}

/** Headers that only answers to one method have. */
const onlyOf: Readonly<Record<string, string>> = {
  'Idempotent-Replayed': 'post',
  ETag: 'get',
  Link: 'get',
  'Retry-After': 'none',
};

function refusals(operation: Operation, named: Named) {
  const all = commonAnswers(operation);
  for (const [status, { about, ...rest }] of Object.entries(operation.refusals ?? {})) {
    const before = all[status];
    all[status] = { about: before ? `${before.about}; ${about}` : about, ...rest };
  }
  const answers: Record<string, DescribedAnswer> = {};
  for (const [status, { about, bare, example, schema = Failure }] of Object.entries(all)) {
    const failure = { ...(example ?? failureExamples[status]), request_id: exampleRequestId };
    answers[status] = {
      description: about,
      ...((status === '429' || status === '503') && {
        headers: { 'Retry-After': headerRef('Retry-After') },
      }),
      ...(!bare && { content: json(jsonSchema(schema, 'output', named), failure) }),
    };
  }
  return answers;
}

const pathParameters = (
  { path, parameters = {} }: Operation,
  examples: Example['path'] = {},
): Parameter[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { about, schema = { type: 'string', format: 'uuid' } } = parameters[name] ?? {};
    const example = examples[name];
    return {
      name,
      in: 'path',
      required: true,
      ...(about && { description: about }),
      schema,
      ...(example && { example }),
    };
  });

function queryParameters(query: Operation['query'], named: Named): Parameter[] {
  if (!query) return [];
  const { properties = {}, required = [] } = jsonSchema(query, 'input', named);
  return Object.entries(properties).map(
    ([name, { description = paging[name]?.about, ...rest }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      ...(description && { description }),
      schema: paging[name]?.schema ?? asMeant(rest),
    }),
  );
}

/** A parameter comes as text; one that is `true` or `false` is meant as what it says. */
function asMeant(schema: Schema): Schema {
  if (schema.enum?.join() !== 'true,false') return schema;
  const meant: Schema = { type: 'boolean' };
  return schema.default === undefined ? meant : { ...meant, default: schema.default === 'true' };
}

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A name of your own for this request: a repeat within 24 hours gets the stored answer.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7E]{1,255}$' },
};

export const json = (schema: Schema, example?: unknown): Content => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});
const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });

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

/** Page and limit are parsed from text, but documented as numbers. */
const paging: Readonly<Record<string, { about: string; schema: Schema }>> = {
  page: { about: 'which page', schema: { type: 'integer', minimum: 1, default: 1 } },
  limit: {
    about: 'rows on a page; more than 200 counts as 200',
    schema: { type: 'integer', minimum: 1, default: 50 },
  },
  cursor: {
    about: 'the `meta.next_cursor` of the page before; takes the place of `page`',
    schema: { type: 'string', minLength: 1, pattern: '^[A-Za-z0-9_-]+$' },
  },
};

/** The example of a refusal, by its status; the description names the other codes of a status. */
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

const exampleRequestId = '0b8f6a1e-7d3c-4c55-9f0a-2e4d6b8c1a37';

const commonAbout: Readonly<Record<string, string>> = {
  304: 'nothing has changed since the answer with this `ETag`',
  400: 'a field or parameter is missing or invalid',
  401: 'the API key is missing, unknown, revoked or expired',
  403: 'the API key has no write permission',
  404: 'not found in the organization',
  409: 'a request with this Idempotency-Key is still running',
  413: 'the body is larger than 1 MiB',
  422: 'this Idempotency-Key was used for another request',
  429: 'the rate limit was exceeded',
  500: 'a fault of the service; says nothing of its cause',
  503: 'the database cannot be reached right now',
};

/** The answers that follow from the form of an operation. */
function commonAnswers({ method, path, permission, body }: Operation) {
  const hasKey = permission !== 'none';
  const statuses = [400, 429, 500, 503];
  if (hasKey) statuses.push(401);
  if (hasKey && method === 'get') statuses.push(304);
  if (hasKey && method === 'post') statuses.push(409, 422);
  if (permission === 'write') statuses.push(403);
  if (path.includes('{')) statuses.push(404);
  if (body || method === 'post') statuses.push(413);
  const answers: Record<string, DescribedRefusal> = {};
  for (const status of statuses) {
    answers[status] = { about: commonAbout[status]!, ...(status === 304 && { bare: true }) };
  }
  if (answers[404] && !hasKey) answers[404].about = 'no such link';
  return answers;
}

/** The part of JSON Schema (2020-12) that we read and write. */
export type Schema = {
  $ref?: string;
  type?: string;
  title?: string;
  description?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

export type Named = Readonly<Record<string, GenericSchema>>;
type Side = 'input' | 'output';

/** Checks that JSON Schema cannot express; descriptions mention them where they matter. */
const unspoken = ['check', 'raw_check', 'trim'];

/** The JSON Schema of what comes in, or of what goes out; schemas that have a name are referred to by it. */
export function jsonSchema(schema: GenericSchema, side: Side, named: Named): Schema {
  // Each conversion converts all that have a name; most of what is asked for, such as the form of errors, needs none.
  const name = Object.keys(named).find((each) => named[each] === schema);
  if (name !== undefined) return { $ref: addressOf(name) };
  const { $schema, $defs, ...converted } = toJsonSchema(schema, config(side, named));
  return plain(converted);
}

export const namedSchemas = (named: Named): Record<string, Schema> =>
  plain(toJsonSchemaDefs(named, config('output', named)));

const addressOf = (name: string) => `#/components/schemas/${name}`;

const config = (typeMode: Side, definitions: Named) =>
  ({
    target: 'draft-2020-12',
    typeMode,
    definitions,
    ignoreActions: unspoken,
    overrideRef: ({ referenceId }: { referenceId: string }) => addressOf(referenceId),
    // A check of our own: the schema's metadata says what it accepts.
    overrideSchema: ({
      valibotSchema: { type },
      jsonSchema: converted,
    }: Overridden): JsonSchema => {
      if (type === 'custom') return {};
      return typeof converted.const === 'string' ? { type: 'string', ...converted } : converted;
    },
  }) as const;

type Overridden = { valibotSchema: { type: string }; jsonSchema: JsonSchema };

/** An object as a default is left out: generators of clients cannot make it a value of their language. */
const plain = <T>(value: object): T =>
  JSON.parse(JSON.stringify(value), (key, part) =>
    key === 'default' && typeof part === 'object' ? undefined : part,
  ) as T;
