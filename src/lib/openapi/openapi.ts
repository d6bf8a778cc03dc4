import type * as v from 'valibot';
import type { ErrorCode } from '../../errors.ts';
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

type Api = {
  info: {
    title: string;
    version: string;
    description: string;
    contact: { name: string };
    license: { name: string; identifier: string };
  };
  sections: readonly ApiSection[];
  /** Webhook events. */
  messages: readonly { type: string; about: string; payload: v.GenericSchema }[];
  /** Name and description. */
  messageHeaders: Readonly<Record<string, string>>;
  /** By the id of an operation or the type of a message. */
  examples: Readonly<Record<string, Example>>;
};

export type Document = ReturnType<typeof describeApi>;

/** The whole API as one OpenAPI 3.1 document. */
export function describeApi({ info, sections, messages, messageHeaders, examples }: Api) {
  const named: Named = { Error: Failure, ...Object.assign({}, ...sections.map((s) => s.schemas)) };
  const bodies: Named = Object.assign({}, ...sections.map((s) => s.bodies));
  const paths: Record<string, Record<string, Described>> = {};
  for (const section of sections) {
    for (const operation of operationsOf(section)) {
      const described = describeOperation(operation, {
        section: section.name,
        named,
        bodies,
        example: examples[operation.id] ?? {},
      });
      paths[operation.path] = { ...paths[operation.path], [operation.method]: described };
    }
  }
  const parameters = Object.entries(messageHeaders).map(
    ([name, description]): Parameter => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    }),
  );
  const webhooks: Record<string, { post: Described }> = {};
  for (const { type, about, payload } of messages) {
    const content = json(jsonSchema(payload, 'output', {}), examples[type]?.body);
    webhooks[type] = {
      post: {
        operationId: type,
        tags: ['Events'],
        summary: type,
        description: about,
        security: [],
        parameters,
        requestBody: { required: true, content },
        responses: {
          '2XX': {
            description: 'Received. Any other status, or no response within 10 s, is a failure.',
          },
        },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags: [
      ...sections.map(({ name, about }) => ({ name, description: about })),
      { name: 'Events', description: 'Events that webhooks receive by POST.' },
    ],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description:
            'A key of one organization. A read key can call every GET. All other methods need a write key.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key, as a bearer token.' },
      },
      headers,
      schemas: { ...namedSchemas(named, 'output'), ...namedSchemas(bodies, 'input') },
    },
  };
}

/** The operations of a section with their method, path and permission. */
export const operationsOf = ({ operations }: ApiSection): Call[] =>
  Object.entries(operations).map(([call, operation]) => {
    const [method, path] = call.split(' ') as [Method, string];
    const needed = method === 'get' ? 'read' : 'write';
    return { ...operation, method, path, permission: operation.isPublic ? 'none' : needed };
  });

/** The parts of OpenAPI that we use. */
export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  style?: 'form';
  explode?: boolean;
  example?: unknown;
};
/** By media type. */
export type Content = Record<string, { schema: Schema; example?: unknown }>;
export type DescribedAnswer = {
  description: string;
  headers?: Record<string, unknown>;
  content?: Content;
};
export type Described = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, DescribedAnswer>;
};

/**
 * The operations of a feature. `query` and `body` are the schemas that the route parses with, so the document cannot
 * drift. `describeOperation` adds authentication, limits and common errors.
 */
export type ApiSection = {
  name: string;
  about: string;
  /** Schemas of answers and parts of bodies, by their name in the document. */
  schemas: Named;
  bodies?: Named;
  operations: Operations;
};

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type Operations = Readonly<Record<`${Method} /${string}`, Operation>>;

export type Operation = {
  id: string;
  summary: string;
  about?: string;
  /** Needs no key. Otherwise a GET needs a read key, and all other methods a write key. */
  isPublic?: true;
  /** Path parameters other than UUIDs. */
  parameters?: Readonly<Record<string, { about: string; schema: Schema }>>;
  query?: v.ObjectSchema<v.ObjectEntries, undefined>;
  /** Parameters whose names callers choose. */
  openQuery?: readonly Parameter[];
  /** Takes `If-Match`. */
  ifMatch?: boolean;
  body?: v.GenericSchema;
  bodyOptional?: boolean;
  /** Describes a body that is a mail message and not JSON. */
  message?: string;
  answer: DescribedSuccess;
  /** A second success, such as a dry run. */
  also?: DescribedSuccess;
  /** The noun of a 404. By default from the path. */
  notFound?: string;
  /** Additional codes by status. */
  refusals?: Readonly<Record<number, readonly ErrorCode[]>>;
  /** Example sentences by status, if they differ from the table of codes. */
  sentences?: Readonly<Record<number, string>>;
  /** Error bodies with additional fields. */
  refusalSchemas?: Readonly<Record<number, v.GenericSchema>>;
};

/** An operation as a client calls it. */
export type Call = Operation & {
  method: Method;
  path: string;
  permission: 'read' | 'write' | 'none';
};

export type DescribedSuccess = {
  /** 200 by default. */
  status?: 200 | 201 | 202 | 204;
  about: string;
  schema?: v.GenericSchema;
  /** The media types of an answer that is a file. */
  files?: Readonly<Record<string, string>>;
};

export type Example = {
  path?: Readonly<Record<string, string>>;
  body?: unknown;
  answer?: unknown;
  also?: unknown;
  /** A body that is an email message. */
  message?: string;
  /** Answers that are files, by format. */
  files?: Readonly<Record<string, string>>;
};
