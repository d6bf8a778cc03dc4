import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { apiDocument } from '../src/api.ts';
import { type ErrorCode, errorCodes } from '../src/errors.ts';
import { testSettings } from './support/make/settings.ts';

const document = apiDocument(testSettings);
const ajv = new Ajv2020({ strict: true, allErrors: true });
addFormats.default(ajv);
for (const [name, schema] of Object.entries(document.components.schemas)) {
  ajv.addSchema(schema as object, `#/components/schemas/${name}`);
}

type Shown = { place: string; schema: object; example: unknown };

const apiOperations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const operations = [document.paths, document.webhooks].flatMap((group) =>
  Object.values(group).flatMap((methods) => Object.values(methods)),
);
const shown: Shown[] = operations.flatMap(({ operationId, requestBody, responses }) => {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const parts = { body: requestBody?.content, answer: success?.content };
  return Object.entries(parts).flatMap(([part, content]) => {
    const json = content?.['application/json'];
    return json ? [{ place: `${operationId} ${part}`, ...json, example: json.example }] : [];
  });
});

test('examples fit their schema and name no other field', () => {
  assert.ok(shown.length > 30);
  for (const { place, schema, example } of shown) {
    const closed = JSON.parse(JSON.stringify({ ...schema, additionalProperties: undefined }), shut);
    assert.ok(ajv.validate(closed, example), `${place}: ${ajv.errorsText()}`);
  }
});

test('only the routes of survey links need no key', () => {
  for (const { operationId, description, security } of operations) {
    assert.ok(description, `${operationId} has no description: give it an \`about\``);
    assert.ok(security, `${operationId} says nothing of security`);
  }
  const open = Object.entries(document.paths).filter(([, methods]) =>
    Object.values(methods).some(({ security }) => security?.length === 0),
  );
  assert.deepEqual(
    open.map(([path]) => path),
    ['/s/{token}', '/f/{share_id}'],
  );
});

const answersOf = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses).map(([status, answer]) => ({
    place: `${operationId} ${status}`,
    status,
    answer,
  })),
);

test('every request and response body has a schema and an example', () => {
  const bodies = operations.map(({ operationId, requestBody }) => ({
    place: `${operationId} body`,
    content: requestBody?.content,
  }));
  const contents = answersOf.map(({ place, answer }) => ({ place, content: answer.content }));
  for (const { place, content } of [...bodies, ...contents]) {
    for (const [type, part] of Object.entries(content ?? {})) {
      const where = `${place} ${type}`;
      assert.ok(part.schema, `${where} has no schema`);
      assert.ok(part.example !== undefined, `${where} has no example: add one in src/examples`);
    }
  }
});

test('every error example fits its schema and status', () => {
  const refusals = answersOf.filter(({ status }) => /^[45]/.test(status));
  assert.ok(refusals.length > 400);
  for (const { place, status, answer } of refusals) {
    const { schema, example } = answer.content!['application/json']!;
    assert.ok(ajv.validate(schema, example), `${place}: ${ajv.errorsText()}`);
    const { code } = example as { code: ErrorCode };
    const statuses: readonly number[] = errorCodes[code].status;
    assert.ok(statuses.includes(Number(status)), `${place} has the code ${code}`);
  }
});

test('every operation documents its limits', () => {
  for (const { operationId, parameters, requestBody, responses } of apiOperations) {
    assert.ok(responses['429'], `${operationId} says nothing of the rate limit`);
    assert.ok(!requestBody || responses['413'], `${operationId} says nothing of a body too large`);
    const limit = parameters.find(({ name }) => name === 'limit');
    assert.ok(!limit || limit.description?.includes('200'), `${operationId}: rows on a page`);
    const others = parameters.filter(({ name }) => name !== 'email');
    for (const { name, schema } of others) assert.ok(isBounded(schema), `${operationId} ${name}`);
  }
});

test('defaults are not objects, which client generators reject', () => {
  for (const part of objectsIn(document)) {
    assert.ok(typeof part['default'] !== 'object', JSON.stringify(part).slice(0, 200));
  }
});

function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Record<string, unknown>];
  return [...own, ...Object.values(value).flatMap(objectsIn)];
}

function shut(_key: string, part: unknown): unknown {
  if (typeof part !== 'object' || part === null || !('properties' in part)) return part;
  const isSchema = 'type' in part && part.type === 'object' && !('additionalProperties' in part);
  return isSchema ? { ...part, additionalProperties: false } : part;
}

/** True if a pattern, an enum or a length limits the parameter. Addresses have their own rule. */
function isBounded(schema: Record<string, unknown>): boolean {
  if (schema['type'] !== 'string') return true;
  return ['format', 'enum', 'pattern', 'maxLength', 'const'].some((word) => word in schema);
}
