// The API document: OpenAPI 3.1 out of valibot schemas, and the same as a page for people.

import type { Described } from './document.ts';
import { jsonSchema, type Named, namedSchemas } from './json-schema.ts';
import { addLinks } from './links.ts';
import { describeOperation, json } from './operation.ts';
import { Failure, headers } from './parts.ts';
import type { ApiSection, Example, Message } from './section.ts';

export type Api = {
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
