import { type JsonSchema, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import * as v from 'valibot';
import { type CodeRow, type ErrorCode, errorCodes } from '../../errors.ts';
import { defaultLimit } from '../paging/page.ts';
import { parse, parseQuery, type QuerySchema } from '../validation/parse.ts';
import type {
  Call,
  Content,
  Described,
  DescribedAnswer,
  DescribedSuccess,
  Example,
  Operation,
  Parameter,
} from './openapi.ts';

type Place = { section: string; named: Named; bodies: Named; example: Example };

export function describeOperation(
  operation: Call,
  { section, named, bodies, example }: Place,
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
      ...(operation.openQuery ?? []),
      ...(method === 'post' && permission !== 'none' ? [idempotencyKey] : []),
      ...(operation.ifMatch ? [ifMatch] : []),
    ],
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        content: json(jsonSchema(body, 'input', bodies), example.body),
      },
    }),
    ...(operation.message && {
      requestBody: { required: true, content: messageContent(operation.message, example.message) },
    }),
    responses: { ...successes(operation, named, example), ...refusals(operation, named) },
  };
}

/** Some client generators skip operations with an unknown media type, so bytes are offered too. */
const messageContent = (description: string, example: string | undefined): Content => ({
  'message/rfc822': { schema: { type: 'string', description }, ...(example && { example }) },
  'application/octet-stream': {
    schema: { type: 'string', format: 'binary', description },
    ...(example && { example }),
  },
});

function successes(operation: Call, named: Named, examples: Example) {
  const { method, permission, body } = operation;
  const names =
    permission === 'none'
      ? ['X-Request-Id']
      : Object.keys(headers).filter(
          (name) => (onlyOf[name] ?? method) === method && (body || name !== 'X-Ignored-Fields'),
        );
  const describe = ({ status = 200, about, schema, files }: DescribedSuccess, example: unknown) => {
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

/** Headers of one method only. */
const onlyOf: Readonly<Record<string, string>> = {
  'Idempotent-Replayed': 'post',
  ETag: 'get',
  Link: 'get',
  'Retry-After': 'none',
};

function refusals(operation: Call, named: Named) {
  const { method, permission, refusals: specific = {}, refusalSchemas = {} } = operation;
  const codes = codesByStatus(operation);
  const answers: Record<string, DescribedAnswer> = {};
  if (permission !== 'none' && method === 'get') answers[304] = { description: notModified };
  for (const [status, common] of Object.entries(codes)) {
    const all = [...(specific[Number(status)] ?? []), ...common];
    answers[status] = {
      description: all.map(describeCode).join('; '),
      ...((status === '429' || status === '503') && {
        headers: { 'Retry-After': headerRef('Retry-After') },
      }),
      content: json(
        jsonSchema(refusalSchemas[Number(status)] ?? Failure, 'output', named),
        exampleOf(operation, Number(status), all),
      ),
    };
  }
  return answers;
}

function codesByStatus({ method, path, permission, body, message, ...operation }: Call) {
  const hasKey = permission !== 'none';
  const codes: Record<number, ErrorCode[]> = {
    400: body && hasKey ? ['invalid', 'invalid_json'] : ['invalid'],
    429: ['rate_limited'],
    500: ['internal'],
    503: ['database_unavailable', 'database_full', 'too_busy'],
  };
  if (hasKey) codes[401] = ['unauthorized'];
  if (permission === 'write') codes[403] = ['forbidden'];
  if (path.includes('{') || operation.notFound) codes[404] = ['not_found'];
  if (hasKey && method === 'post') {
    codes[409] = ['idempotency_key_running', 'idempotency_answer_not_stored'];
    codes[422] = ['idempotency_key_reused'];
  }
  if (operation.ifMatch) codes[412] = ['precondition_failed'];
  if (body || method === 'post') codes[413] = ['body_too_large'];
  for (const status of Object.keys(operation.refusals ?? {})) codes[Number(status)] ??= [];
  return codes;
}

const notModified = 'Not modified since the response with this `ETag`.';

const meanings: Partial<Record<ErrorCode, string>> = {
  invalid: 'a field or parameter is missing or invalid',
  not_found: 'the id does not exist in the organization',
};

const describeCode = (code: ErrorCode) =>
  `${meanings[code] ?? errorCodes[code].error} (\`${code}\`)`;

/** Prefers an error that is specific to the operation. */
function exampleOf(operation: Call, status: number, codes: readonly ErrorCode[]) {
  const invalid = status === 400 ? sentenceOfInvalid(operation) : undefined;
  const [first = 'internal', second] = codes;
  const code = invalid ? 'invalid' : first === 'invalid' ? (second ?? 'invalid_text') : first;
  const { error, details }: CodeRow = errorCodes[code];
  const sentence = code === 'not_found' ? `${notFoundIn(operation)} not found` : invalid;
  return {
    error: operation.sentences?.[status] ?? sentence ?? error,
    code,
    ...details,
    request_id: exampleRequestId,
  };
}

/** The noun of a path: survey for `/surveys/{id}/send`. */
function notFoundIn({ path, notFound }: Call): string {
  const [, plural = ''] = /([a-z]+)\/\{\w+\}(?!.*\{)/.exec(path) ?? [];
  return notFound ?? plural.replace(/ies$/, 'y').replace(/s$/, '');
}

/** The error for the first field that can be missing or invalid. */
function sentenceOfInvalid({ body, query, permission }: Call): string | undefined {
  if (permission === 'none') return undefined; // survey links have their own codes
  const namesIn = (schema?: object) =>
    Object.keys((schema as QuerySchema | undefined)?.entries ?? {});
  const mistakes = [
    ...(body ? [() => parse(body, {})] : []),
    ...namesIn(body).map((name) => () => parse(body!, { [name]: {} })),
    ...namesIn(query).map((name) => () => parseQuery(query!, { [name]: ['?'] })),
  ];
  for (const mistake of mistakes) {
    try {
      mistake();
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
}

const pathParameters = (
  { path, parameters = {} }: Call,
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
      schema: paging[name]?.schema ?? documentBoolean(rest),
    }),
  );
}

/** Documents `true` and `false` as a boolean. */
function documentBoolean(schema: Schema): Schema {
  if (schema.enum?.join() !== 'true,false') return schema;
  const { default: value } = schema;
  return { type: 'boolean', ...(value !== undefined && { default: value === 'true' }) };
}

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A unique value for this request. A repeat within 24 hours returns the stored response.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7E]{1,255}$' },
};

const ifMatch: Parameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The `ETag` of a GET. The change is refused with 412 if the resource was changed since. Without it, the last ' +
    'change wins.',
  schema: { type: 'string', pattern: '^[\\x20-\\x7E]+$' },
};

export const json = (schema: Schema, example?: unknown): Content => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});
const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });

export const Failure = v.pipe(
  v.object({
    error: v.pipe(v.string(), v.description('a sentence for people')),
    code: v.pipe(
      v.picklist(Object.keys(errorCodes)),
      v.description('a stable word for programs; new ones may be added'),
    ),
    request_id: v.pipe(v.string(), v.description('the value of X-Request-Id, for support')),
  }),
  v.description('The reason why a request was refused.'),
);

const text = (description: string) => ({ description, schema: { type: 'string' } });

export const headers = {
  'X-Request-Id': text('The request id that you sent, or a new one.'),
  'RateLimit-Policy': text(
    'The limit: `"default";q=100;w=60` means 100 requests per clock minute.',
  ),
  RateLimit: text(
    'The remaining requests: `"default";r=42;t=17` means 42 more requests within the next 17 seconds.',
  ),
  'Idempotent-Replayed': text('`true` if this is the stored response to an earlier request.'),
  'X-Ignored-Fields': text('Unknown fields of the body, which were ignored.'),
  ETag: text('The version of this response. Send it in `If-None-Match` to get 304 if unchanged.'),
  Link: text('The next page of a list, with `rel="next"`.'),
  'Retry-After': text('Seconds to wait before you try again.'),
};

/** Parsed from text, but documented as numbers. */
const paging: Readonly<Record<string, { about: string; schema: Schema }>> = {
  page: { about: 'the page number', schema: { type: 'integer', minimum: 1, default: 1 } },
  limit: {
    about: 'rows per page, at most 200',
    schema: { type: 'integer', minimum: 1, default: defaultLimit },
  },
  cursor: {
    about: 'the `meta.next_cursor` of the previous page; replaces `page`',
    schema: { type: 'string', minLength: 1, pattern: '^[A-Za-z0-9_-]+$' },
  },
};

const exampleRequestId = '0b8f6a1e-7d3c-4c55-9f0a-2e4d6b8c1a37';

/** The part of JSON Schema 2020-12 that we use. */
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
  propertyNames?: Schema;
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

/** JSON Schema cannot express these. */
const ignoredActions = ['check', 'raw_check', 'trim'];

/** Converts a schema to JSON Schema. Named schemas become references. */
export function jsonSchema(schema: GenericSchema, side: Side, named: Named): Schema {
  // Skips the conversion, because it would convert all named schemas each time.
  const name = Object.keys(named).find((each) => named[each] === schema);
  if (name !== undefined) return { $ref: addressOf(name) };
  const { $schema, $defs, ...converted } = toJsonSchema(schema, config(side, named));
  return plain(converted);
}

export const namedSchemas = (named: Named, side: Side): Record<string, Schema> =>
  plain(toJsonSchemaDefs(named, config(side, named)));

const addressOf = (name: string) => `#/components/schemas/${name}`;

const config = (typeMode: Side, definitions: Named) =>
  ({
    target: 'draft-2020-12',
    typeMode,
    definitions,
    ignoreActions: ignoredActions,
    overrideRef: ({ referenceId }: { referenceId: string }) => addressOf(referenceId),
    // The metadata of a custom schema describes it.
    overrideSchema: ({
      valibotSchema: { type },
      jsonSchema: converted,
    }: Overridden): JsonSchema => {
      if (type === 'custom') return {};
      return typeof converted.const === 'string' ? { type: 'string', ...converted } : converted;
    },
  }) as const;

type Overridden = { valibotSchema: { type: string }; jsonSchema: JsonSchema };

/** Removes defaults that are objects, which client generators cannot handle. */
const plain = <T>(value: object): T =>
  JSON.parse(JSON.stringify(value), (key, part) =>
    key === 'default' && typeof part === 'object' ? undefined : part,
  ) as T;
