import type * as v from 'valibot';
import { jsonSchema, type Named, namedSchemas, type Schema } from './json-schema.ts';
import { describeOperation, json } from './operation.ts';
import { Failure, headers } from './parts.ts';

/**
 * How a room describes its doors. Beside its `routes.ts` it has an `operations.ts` that exports one `Room`:
 *
 *   export const tagRoom: Room = {
 *     name: 'Tags',                          // the heading its operations stand under
 *     about: 'Words to sort surveys by.',
 *     schemas: { Tag },                      // what answers are made of, by public and frozen names
 *     operations: [
 *       {
 *         id: 'listTags',                    // unique; client generators make a function of it
 *         method: 'get',
 *         path: '/api/v1/tags',              // parameters as {id}: always UUIDs
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
 */
export type Room = {
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
  permission: 'read' | 'write';
  query?: v.ObjectSchema<v.ObjectEntries, undefined>;
  body?: v.GenericSchema;
  bodyOptional?: boolean;
  /** What a body that is no JSON but a mail message should hold. */
  message?: string;
  answer: { status: 200 | 201 | 202 | 204; about: string; schema?: v.GenericSchema };
  refusals?: Readonly<Record<number, Refused>>;
};

export type Refused = { about: string; schema?: v.GenericSchema };

/** A request that this service makes to a subscriber. */
export type Message = { type: string; about: string; payload: v.GenericSchema };

export type Api = {
  info: { title: string; version: string; description: string };
  rooms: readonly Room[];
  messages: readonly Message[];
  /** The headers that go with every message, by name: what they hold. */
  messageHeaders: Readonly<Record<string, string>>;
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
};
export type Content = { 'application/json': { schema: Schema } };
/** A body that is a mail message, as it came. */
export type MessageContent = {
  'application/json'?: never;
  'message/rfc822': { schema: Schema };
};
export type Answer = { description: string; headers?: Record<string, unknown>; content?: Content };
export type Described = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Partial<Content> | MessageContent };
  responses: Record<string, Answer>;
};
export type Document = ReturnType<typeof describeApi>;

/** The whole API as one OpenAPI 3.1 document. */
export function describeApi({ info, rooms, messages, messageHeaders }: Api) {
  const named: Named = { Error: Failure, ...Object.assign({}, ...rooms.map((r) => r.schemas)) };
  const paths: Record<string, Record<string, Described>> = {};
  for (const room of rooms) {
    for (const operation of room.operations) {
      const described = describeOperation(operation, { room: room.name, named });
      paths[operation.path] = { ...paths[operation.path], [operation.method]: described };
    }
  }
  const webhooks = messages.map((message) => [
    message.type,
    { post: describeMessage(message, messageHeaders) },
  ]);
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags: rooms.map(({ name, about }) => ({ name, description: about })),
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
      },
      headers,
      schemas: namedSchemas(named),
    },
  };
}

function describeMessage(
  { type, about, payload }: Message,
  names: Api['messageHeaders'],
): Described {
  return {
    operationId: type,
    tags: ['Events'],
    summary: type,
    description: about,
    parameters: Object.entries(names).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: json(jsonSchema(payload, 'output', {})) },
    responses: {
      '2XX': { description: 'Taken. Anything else, or nothing within 10 s, is a failure.' },
    },
  };
}
