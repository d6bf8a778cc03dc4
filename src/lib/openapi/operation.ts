import type { Content, Described, DescribedAnswer, Parameter } from './document.ts';
import { jsonSchema, type Named, type Schema } from './json-schema.ts';
import {
  commonAnswers,
  exampleRequestId,
  Failure,
  failureExamples,
  headers,
  paging,
} from './parts.ts';
import type { DescribedRefusal, DescribedSuccess, Example, Operation } from './section.ts';

type Place = { section: string; named: Named; example: Example };

/** One operation as OpenAPI says it, with all that follows from its form. */
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
    ...(operation.message && { requestBody: messageBody(operation.message, example.message) }),
    responses: { ...successes(operation, named, example), ...refusals(operation, named) },
  };
}

/** Some generators know no media type of messages and leave the operation out: bytes are known to all of them. */
const messageBody = (description: string, example: string | undefined) => ({
  required: true,
  content: {
    'message/rfc822': { schema: { type: 'string', description }, ...(example && { example }) },
    'application/octet-stream': {
      schema: { type: 'string', format: 'binary', description },
      ...(example && { example }),
    },
  },
});

function successes(
  operation: Operation,
  named: Named,
  { answer, also, files: fileExamples }: Example,
) {
  const headers = Object.fromEntries(headersOf(operation).map((name) => [name, headerRef(name)]));
  const describe = ({ status, about, schema, files }: DescribedSuccess, example: unknown) => ({
    [status]: {
      description: about,
      headers,
      ...(schema && { content: json(jsonSchema(schema, 'output', named), example) }),
      ...(files && { content: textFiles(files, fileExamples) }),
    },
  });
  return {
    ...describe(operation.answer, answer),
    ...(operation.also && describe(operation.also, also)),
  };
}

/** By their media types alone: what stands in them is described in words. */
const textFiles = (files: Readonly<Record<string, string>>, examples: Example['files'] = {}) =>
  Object.fromEntries(
    Object.entries(files).map(([format, type]) => [
      type.split(';')[0]!,
      {
        schema: { type: 'string' },
        ...(examples[format] !== undefined && { example: examples[format] }),
      },
    ]),
  );

/** Headers that only answers to one method have; those to none are said where they stand. */
const onlyOf: Readonly<Record<string, string>> = {
  'Idempotent-Replayed': 'post',
  ETag: 'get',
  Link: 'get',
  'Retry-After': 'none',
};

function headersOf({ method, permission, body }: Operation): string[] {
  if (permission === 'none') return ['X-Request-Id'];
  const own = Object.keys(headers).filter((name) => (onlyOf[name] ?? method) === method);
  return body ? own : own.filter((name) => name !== 'X-Ignored-Fields');
}

function refusals(operation: Operation, named: Named): Record<string, DescribedAnswer> {
  const all: Record<string, DescribedRefusal> = { ...commonAnswers(operation) };
  for (const [status, { about, schema, example }] of Object.entries(operation.refusals ?? {})) {
    const before = all[status];
    all[status] = {
      about: before ? `${before.about}; ${about}` : about,
      ...(schema && { schema }),
      ...(example && { example }),
    };
  }
  const answers = Object.entries(all).map(
    ([status, { about, bare, example, schema = Failure }]) => [
      status,
      {
        description: about,
        ...((status === '429' || status === '503') && {
          headers: { 'Retry-After': headerRef('Retry-After') },
        }),
        ...(!bare && {
          content: json(jsonSchema(schema, 'output', named), failureExample(status, example)),
        }),
      },
    ],
  );
  return Object.fromEntries(answers) as Record<string, DescribedAnswer>;
}

const failureExample = (status: string, own = failureExamples[status]) => ({
  ...own,
  request_id: exampleRequestId,
});

const pathParameters = (
  { path, parameters = {} }: Operation,
  examples: Example['path'] = {},
): Parameter[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { about, schema = uuid } = parameters[name] ?? {};
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

const uuid: Schema = { type: 'string', format: 'uuid' };

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
