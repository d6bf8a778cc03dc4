/** JSON Schema, as far as the API document uses it. */
type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  description?: string;
};

type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
  explode?: boolean;
};
type Content = { content?: Record<string, { schema: Schema }> };
type Operation = {
  operationId: string;
  summary?: string;
  parameters?: Parameter[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content>;
};

export type ClientDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
  webhooks: Record<string, { post: Operation }>;
};

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Types of the client: schemas, input and output of each operation, payloads of events. */
export function clientTypes(document: ClientDocument): string {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema)}export type ${name} = ${typeOf(schema)};`,
  );
  const operations = operationsOf(document).map(
    ({ operation }) =>
      `${comment({ description: operation.summary ?? '' })}${operation.operationId}: { input: ${inputOf(operation)}; output: ${outputOf(operation)} };`,
  );
  const events = Object.entries(document.webhooks).map(
    ([name, { post }]) => `'${name}': ${bodyOf(post.requestBody)};`,
  );
  return [
    '// Generated from the API document.',
    ...schemas,
    `export type Operations = {\n${operations.join('\n')}\n};`,
    `export type Events = {\n${events.join('\n')}\n};`,
    'export type EventName = keyof Events;',
    '',
  ].join('\n\n');
}

/** Method and path of each operation, at run time. */
export function clientOperations(document: ClientDocument): string {
  const rows = operationsOf(document).map(({ method, path, operation }) => {
    const [type] = Object.keys(operation.requestBody?.content ?? {});
    const place = { method: method.toUpperCase(), path, ...(type && { type }) };
    return `  ${operation.operationId}: ${JSON.stringify(place)},`;
  });
  return `import type { Operations } from './types.ts';

export type OperationName = keyof Operations;

type Place = { method: string; path: string; type?: string };

export const operations: Record<OperationName, Place> = {
${rows.join('\n')}
};
`;
}

const operationsOf = ({ paths }: ClientDocument) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({ method, path, operation })),
  );

function inputOf({ parameters = [], requestBody }: Operation): string {
  const given = parameters
    .filter(({ in: place }) => place === 'query' || place === 'path')
    .map((parameter) => {
      if (parameter.explode)
        return `${comment(parameter)}[name: \`${parameter.name}.\${string}\`]: string | undefined;`;
      const optional = parameter.required ? '' : '?';
      return `${comment(parameter)}${key(parameter.name)}${optional}: ${typeOf(parameter.schema)};`;
    });
  const body = requestBody && `body${requestBody.required ? '' : '?'}: ${bodyOf(requestBody)};`;
  return `{ ${[...given, ...(body ? [body] : [])].join(' ')} }`;
}

function outputOf({ responses }: Operation): string {
  const [, done] = Object.entries(responses).find(([status]) => status.startsWith('2'))!;
  return done.content ? bodyOf(done) : 'undefined';
}

function bodyOf(described: Content | undefined): string {
  const [[type, { schema }]] = Object.entries(described?.content ?? {}) as [
    [string, { schema: Schema }],
  ];
  return type === 'application/json' ? typeOf(schema) : 'string';
}

function typeOf(schema: Schema): string {
  const { $ref, anyOf, oneOf, allOf, items, type } = schema;
  if ($ref) return $ref.split('/').at(-1)!;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const union = anyOf ?? oneOf;
  if (union) return union.map((one) => group(typeOf(one))).join(' | ');
  if (allOf) return allOf.map((one) => group(typeOf(one))).join(' & ');
  if (Array.isArray(type))
    return type.map((one) => group(typeOf({ ...schema, type: one }))).join(' | ');
  if (type === 'array') return `readonly ${group(items ? typeOf(items) : 'unknown')}[]`;
  if (type === 'object' || schema.properties) return objectType(schema);
  return (
    { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }[
      type ?? ''
    ] ?? 'unknown'
  );
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema)}${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`,
  );
  if (members.length > 0) return `{\n${members.join('\n')}\n}`;
  const values =
    typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
  return `Record<string, ${values}>`;
}

const group = (type: string) => (/[|&]| /.test(type) && !type.startsWith('{') ? `(${type})` : type);
const key = (name: string) => (/^\w+$/.test(name) ? name : JSON.stringify(name));
const comment = ({ description }: { description?: string }) =>
  description ? `/** ${description.replace(/\s+/g, ' ').replaceAll('*/', '* /')} */\n` : '';
