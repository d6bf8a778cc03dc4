import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { apiDocument } from '../../../src/api.ts';
import type { Described } from '../../../src/lib/openapi/openapi.ts';
import type { Schema } from '../../../src/lib/openapi/operation.ts';
import { testSettings } from '../make/settings.ts';

const document = apiDocument(testSettings);
const described = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

const ajv = new Ajv2020({ strict: true, allErrors: true });
addFormats.default(ajv);
for (const [name, schema] of Object.entries(document.components.schemas)) {
  ajv.addSchema(closed(schema) as object, `#/components/schemas/${name}`);
}

/**
 * Checks that the document describes a response of the API: the status, the body, and no undocumented fields. Requests
 * without a documented operation must get the usual error body.
 */
export async function conforms(request: Request, answer: Response) {
  const { pathname } = new URL(request.url);
  const isPage = !answer.headers.get('Content-Type')?.startsWith('application/json');
  const isApi = /^\/api(\/|$)/.test(pathname) || (/^\/[sf]\/[^/]+$/.test(pathname) && !isPage);
  if (!isApi || !described.has(request.method)) return;
  const place = `${request.method} ${pathname} -> ${answer.status}`;
  const operation = operationOf(request.method, pathname);
  const expected = operation ? operation.responses[answer.status] : refusal(answer.status);
  assert.ok(expected, `${place} is not in the document`);

  const files = Object.keys(expected.content ?? {}).filter((type) => type !== 'application/json');
  if (files.length > 0) {
    const type = answer.headers.get('Content-Type')?.split(';')[0] ?? '';
    return assert.ok(files.includes(type), `${place} is ${type}, not one of ${files}`);
  }
  const text = await textOf(answer.clone());
  const schema = expected.content?.['application/json']?.schema;
  if (!schema) return assert.equal(text, '', `${place} has a body, and the document says none`);
  assert.match(
    answer.headers.get('Content-Type') ?? '',
    /^application\/json/,
    `${place} is not JSON`,
  );
  const validate = validatorOf(schema);
  const valid = validate(JSON.parse(text));
  assert.ok(valid, `${place} is not as described: ${ajv.errorsText(validate.errors)}\n${text}`);
}

async function textOf(answer: Response): Promise<string> {
  const bytes = await answer.bytes();
  const isPacked = answer.headers.get('Content-Encoding') === 'gzip';
  return new TextDecoder().decode(isPacked ? gunzipSync(bytes) : bytes);
}

function operationOf(method: string, path: string): Described | undefined {
  const candidates = Object.keys(document.paths).filter((template) => matches(template, path));
  const exact = candidates.find((template) => template === path) ?? candidates[0];
  return exact ? document.paths[exact]?.[method.toLowerCase()] : undefined;
}

const matches = (template: string, path: string) =>
  new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);

/** Requests without an operation always get the usual error body. */
function refusal(status: number): Described['responses'][string] | undefined {
  if (![400, 401, 404, 405, 409, 413, 422, 429, 500, 503].includes(status)) return undefined;
  const schema = { $ref: '#/components/schemas/Error' };
  return { description: '', content: { 'application/json': { schema } } };
}

const validators = new WeakMap<Schema, ReturnType<typeof ajv.compile>>();

function validatorOf(schema: Schema) {
  const known = validators.get(schema) ?? ajv.compile(closed(schema) as object);
  validators.set(schema, known);
  return known;
}

/**
 * Closes every object of the schema. Clients must ignore unknown fields, but the document must describe all of them.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.entries(schema).map(([name, part]) => [name, closed(part)] as const);
  const shut =
    'type' in schema &&
    schema.type === 'object' &&
    'properties' in schema &&
    !('additionalProperties' in schema);
  return { ...Object.fromEntries(parts), ...(shut && { additionalProperties: false }) };
}
