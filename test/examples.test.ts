import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { apiDocument } from '../src/api.ts';
import { marginOfError, netPromoterScore } from '../src/scores.ts';
import { testSettings } from './support/make/settings.ts';

const document = apiDocument(testSettings);
const ajv = new Ajv2020({ strict: true, allErrors: true });
addFormats.default(ajv);
for (const [name, schema] of Object.entries(document.components.schemas)) {
  ajv.addSchema(schema as object, `#/components/schemas/${name}`);
}

type Shown = { place: string; schema: object; example: unknown };

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

test('every body and every answer of the API document has an example that fits its schema', () => {
  assert.ok(shown.length > 30);
  for (const { place, schema, example } of shown) {
    assert.ok(example !== undefined, `${place} has no example: add one in src/examples`);
    assert.ok(ajv.validate(schema, example), `${place}: ${ajv.errorsText()}`);
  }
});

test('examples name no field that their schema does not describe', () => {
  for (const { place, schema, example } of shown) {
    const closed = JSON.parse(JSON.stringify({ ...schema, additionalProperties: undefined }), shut);
    assert.ok(ajv.validate(closed, example), `${place}: ${ajv.errorsText()}`);
  }
});

test('the counts and scores of the examples add up', () => {
  const tallies = shown.flatMap(({ example }) => objectsIn(example)).filter(isTally);
  assert.equal(tallies.length, 9);
  for (const tally of tallies) {
    const total = tally.promoters + tally.passives + tally.detractors;
    assert.equal(tally['total'] ?? tally['total_responses'], total);
    assert.equal(tally.nps, netPromoterScore(tally));
    if ('margin_of_error' in tally) assert.equal(tally['margin_of_error'], marginOfError(tally));
  }
  const [sent] = shown.filter(({ place }) => place === 'sendSurvey answer');
  const { data } = sent!.example as { data: Record<string, number> & { results: unknown[] } };
  assert.equal(data['sent']! + data['duplicates']! + data['invalid']!, data.results.length);
});

test('every operation is described, and only the links of a survey need no key', () => {
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

test('no default is an object, which generators of clients refuse', () => {
  for (const part of objectsIn(document)) {
    assert.ok(typeof part['default'] !== 'object', JSON.stringify(part).slice(0, 200));
  }
});

type Counts = { promoters: number; passives: number; detractors: number; nps: number };

const isTally = (part: Record<string, unknown>): part is Counts & Record<string, unknown> =>
  'promoters' in part;

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
