import type { Schema } from './json-schema.ts';

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
export type MessageContent = {
  'application/json'?: never;
  'message/rfc822': { schema: Schema; example?: string };
  'application/octet-stream': { schema: Schema; example?: string };
};
/** A file, by its media types. */
export type FileContent = { 'application/json'?: never } & {
  [type: string]: { schema: Schema; example?: string };
};
export type DescribedAnswer = {
  description: string;
  headers?: Record<string, unknown>;
  content?: Content | FileContent;
  links?: Record<string, Link>;
};
/** What an answer leads to: the operation, and where in the answer its parameter stands. */
export type Link = { operationId: string; parameters: Record<string, string> };
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
