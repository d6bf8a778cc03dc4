import type { Schema } from '../json-schema.ts';

export type Schemas = Readonly<Record<string, Schema>>;

export const resolve = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
