import type { Schema } from '../json-schema.ts';

export type Schemas = Readonly<Record<string, Schema>>;

const byFormat: Readonly<Record<string, string>> = {
  uuid: '3f2b8c1e-5d47-4a90-9b1c-7e6f0d2a4c58',
  'date-time': '2026-03-14T09:26:53.000Z',
  email: 'ann@example.com',
  uri: 'https://example.com/hook',
};

const byName: Readonly<Record<string, string>> = {
  email: 'ann@example.com',
  contact_email: 'ann@example.com',
  from_email: 'hello@example.com',
  reply_to: 'hello@example.com',
  url: 'https://example.com/hook',
  name: 'Ann',
  color: '#2f6fed',
  date_from: '2026-03-01',
  date_to: '2026-03-31',
  since: '2026-03-14T00:00:00Z',
};

export const resolve = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;

/** A value that a schema takes, made up the same way every time, for somebody to look at. */
export function sample(schema: Schema, schemas: Schemas, name = ''): unknown {
  const { anyOf, oneOf, examples, ...rest } = resolve(schema, schemas);
  if (examples?.length) return examples[0];
  if ('const' in rest) return rest.const;
  if (rest.enum?.length) return rest.enum.at(0);
  const first = (anyOf ?? oneOf)?.[0];
  if (first) return sample(first, schemas, name);
  if (rest.type === 'object') return sampleObject(rest, schemas);
  if (rest.type === 'array') return [sample(rest.items ?? {}, schemas, name)];
  return sampleScalar(rest, name);
}

/** An object with the fields alone that it must have, or with all when none must be there. */
export function essential(schema: Schema, schemas: Schemas): Schema {
  const { properties = {}, required = [], ...rest } = resolve(schema, schemas);
  const needed = Object.entries(properties).filter(([name]) => required.includes(name));
  return { ...rest, properties: needed.length > 0 ? Object.fromEntries(needed) : properties };
}

const sampleObject = ({ properties = {} }: Schema, schemas: Schemas) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, sample(field, schemas, name)]),
  );

function sampleScalar({ type, format, minimum = 0, default: fallback }: Schema, name: string) {
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return fallback ?? Math.max(minimum, 9);
  if (type !== 'string') return {};
  return byFormat[format ?? ''] ?? byName[name] ?? name.replaceAll('_', ' ');
}
