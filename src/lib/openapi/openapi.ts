import type * as v from 'valibot';
import {
  describeOperation,
  Failure,
  headers,
  json,
  jsonSchema,
  type Named,
  namedSchemas,
  type Schema,
} from './operation.ts';

// The API document: OpenAPI 3.1 out of valibot schemas, and the same as a page for people.

type Api = {
  info: ApiInfo;
  sections: readonly ApiSection[];
  messages: readonly Message[];
  /** The headers that go with every message, by name: what they hold. */
  messageHeaders: Readonly<Record<string, string>>;
  /** By the id of an operation or the type of a message: what stands in its path, what is sent, what is answered. */
  examples: Readonly<Record<string, Example>>;
};

type ApiInfo = {
  title: string;
  version: string;
  description: string;
  contact: { name: string };
  license: { name: string; identifier: string };
};

export type Document = ReturnType<typeof describeApi>;

/** The whole API as one OpenAPI 3.1 document. */
export function describeApi({ info, sections, messages, messageHeaders, examples }: Api) {
  const named: Named = { Error: Failure, ...Object.assign({}, ...sections.map((s) => s.schemas)) };
  const paths: Record<string, Record<string, Described>> = {};
  for (const section of sections) {
    for (const operation of section.operations) {
      const described = describeOperation(operation, {
        section: section.name,
        named,
        example: examples[operation.id] ?? {},
      });
      paths[operation.path] = { ...paths[operation.path], [operation.method]: described };
    }
  }
  addLinks(paths);
  const webhooks = messages.map((message) => [
    message.type,
    { post: describeMessage(message, messageHeaders, examples[message.type] ?? {}) },
  ]);
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags: [
      ...sections.map(({ name, about }) => ({ name, description: about })),
      { name: 'Events', description: 'What is posted to the URL of a webhook.' },
    ],
    paths,
    webhooks: Object.fromEntries(webhooks) as Record<string, { post: Described }>,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description:
            'A key of one organization. A read key may call every GET; the rest needs a write key.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key, as a bearer token.' },
      },
      headers,
      schemas: namedSchemas(named),
    },
  };
}

function describeMessage(
  { type, about, payload }: Message,
  names: Api['messageHeaders'],
  { body }: Example,
): Described {
  return {
    operationId: type,
    tags: ['Events'],
    summary: type,
    description: about,
    security: [],
    parameters: Object.entries(names).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: json(jsonSchema(payload, 'output', {}), body) },
    responses: {
      '2XX': { description: 'Taken. Anything else, or nothing within 10 s, is a failure.' },
    },
  };
}

type Paths = Record<string, Record<string, Described>>;

/**
 * Adds what answers lead to: with the id in the answer of `/things`, or of its first row, go the operations of
 * `/things/{id}` and of what lies below it.
 */
function addLinks(paths: Paths) {
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of ['get', 'post']) {
      const operation = methods[method];
      const pointer = operation && idIn(operation);
      if (pointer) link(operation, pointer, below(paths, path));
    }
  }
}

/** Where the id stands in the example of an answer, which fits its schema. */
function idIn({ responses }: Described): string | undefined {
  const success = Object.entries(responses).find(([status]) => /^20[01]$/.test(status))?.[1];
  const example = success?.content?.['application/json']?.example as
    | { data?: { id?: unknown } | { id?: unknown }[] }
    | undefined;
  const data = example?.data;
  if (Array.isArray(data)) return data[0]?.id ? '/data/0/id' : undefined;
  return data?.id ? '/data/id' : undefined;
}

function below(paths: Paths, path: string): Described[] {
  const own = Object.entries(paths).filter(([other]) => {
    const rest = other.startsWith(`${path}/{id}`) ? other.slice(path.length) : '';
    return /^\/\{id\}(\/[a-z-]+)?$/.test(rest);
  });
  return own.flatMap(([, methods]) => Object.values(methods));
}

function link({ responses }: Described, pointer: string, operations: readonly Described[]) {
  if (operations.length === 0) return;
  const links = operations.map(({ operationId }): [string, Link] => [
    operationId,
    { operationId, parameters: { id: `$response.body#${pointer}` } },
  ]);
  for (const [status, answer] of Object.entries(responses)) {
    if (/^20[01]$/.test(status) && answer.content) answer.links = Object.fromEntries(links);
  }
}

/** The parts of an OpenAPI document, as far as we write them. */
export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  example?: string;
};
export type Content = { 'application/json': { schema: Schema; example?: unknown } };
/** A body that is a mail message, as it came. */
type MessageContent = {
  'application/json'?: never;
  'message/rfc822': { schema: Schema; example?: string };
  'application/octet-stream': { schema: Schema; example?: string };
};
/** A file, by its media types. */
type FileContent = { 'application/json'?: never } & {
  [type: string]: { schema: Schema; example?: string };
};
export type DescribedAnswer = {
  description: string;
  headers?: Record<string, unknown>;
  content?: Content | FileContent;
  links?: Record<string, Link>;
};
/** What an answer leads to: the operation, and where in the answer its parameter stands. */
type Link = { operationId: string; parameters: Record<string, string> };
export type Described = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Partial<Content> | MessageContent };
  responses: Record<string, DescribedAnswer>;
};

/**
 * The operations under one heading: each feature exports one, and `api.ts` lists it. `query` and `body` are the very
 * schemas that the route parses with, so the document cannot drift. The key, the limits and the refusals that follow
 * from the form of an operation are added by `describeOperation`.
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
type Message = { type: string; about: string; payload: v.GenericSchema };

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
