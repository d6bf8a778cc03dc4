import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breakingChanges } from '../../ops/build/breaking-changes.ts';
import type { Parameter } from '../../src/lib/openapi/openapi.ts';
import type { Schema } from '../../src/lib/openapi/operation.ts';

const item: Schema = {
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uuid' },
    nps: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    status: { type: 'string', enum: ['active', 'completed'] },
    tags: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
  },
  required: ['id', 'nps', 'status'],
};
const wish: Schema = {
  type: 'object',
  properties: {
    email: { type: 'string', maxLength: 200 },
    kind: { type: 'string', enum: ['a', 'b'] },
    name: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['email'],
};
const limit: Parameter = {
  name: 'limit',
  in: 'query',
  required: false,
  schema: { type: 'integer' },
};

/** A document with one operation and one event, with changes. */
function document(over: {
  item?: Schema;
  wish?: Schema;
  parameters?: Parameter[];
  permission?: string;
}) {
  const content = (schema: Schema) => ({ 'application/json': { schema } });
  const operation = {
    operationId: 'makeThing',
    tags: ['Things'],
    summary: 'Make a thing',
    security: [{ apiKey: [over.permission ?? 'read'] }],
    parameters: over.parameters ?? [limit],
    requestBody: { required: true, content: content(over.wish ?? wish) },
    responses: {
      201: { description: 'made', content: content({ $ref: '#/components/schemas/Thing' }) },
      404: { description: 'not found' },
    },
  };
  return {
    paths: { '/things': { post: operation } },
    webhooks: { 'thing.made': { post: { ...operation, requestBody: undefined! } } },
    components: { schemas: { Thing: over.item ?? item } },
  };
}

const released = document({});
const changes = (over: Parameters<typeof document>[0]) =>
  breakingChanges(released, document(over)).filter((change) => change.startsWith('POST /things'));
const withField = (schema: Schema, name: string, field: Schema): Schema => ({
  ...schema,
  properties: { ...schema.properties, [name]: field },
});
const withoutField = (schema: Schema, name: string): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([other]) => other !== name),
  ),
});

test('breakingChanges accepts additions', () => {
  const added = document({
    item: {
      ...withField(item, 'color', { type: 'string' }),
      required: ['id', 'nps', 'status', 'color'],
    },
    wish: withField(withField(wish, 'note', { type: 'string' }), 'kind', {
      type: 'string',
      enum: ['a', 'b', 'c'],
    }),
    parameters: [limit, { ...limit, name: 'cursor', schema: { type: 'string' } }],
  });
  const more = { ...added, paths: { ...added.paths, '/others': added.paths['/things'] } };
  assert.deepEqual(breakingChanges(released, more), []);
});

test('breakingChanges reports a removed operation or response', () => {
  assert.deepEqual(breakingChanges(released, { ...released, paths: {} }), [
    'POST /things was removed',
  ]);
  const { post } = released.paths['/things'];
  const silent = { ...released, paths: { '/things': { post: { ...post, responses: {} } } } };
  assert.deepEqual(breakingChanges(released, silent), ['POST /things: the answer 201 was removed']);
});

test('breakingChanges reports a removed event', () => {
  assert.deepEqual(breakingChanges(released, { ...released, webhooks: {} }), [
    'POST thing.made was removed',
  ]);
});

const stumbles: [string, Parameters<typeof document>[0], RegExp][] = [
  ['a field of an answer goes', { item: withoutField(item, 'status') }, /status was removed/],
  [
    'a field of an answer is retyped',
    { item: withField(item, 'id', { type: 'integer' }) },
    /id was string and is integer/,
  ],
  [
    'a field of an answer may be missing now',
    { item: { ...item, required: ['id', 'nps'] } },
    /status may be missing/,
  ],
  [
    'a value of an answer goes',
    { item: withField(item, 'status', { type: 'string', enum: ['active'] }) },
    /lost the value completed/,
  ],
  ['a field of a body goes', { wish: withoutField(wish, 'kind') }, /kind was removed/],
  [
    'a field of a body is required now',
    { wish: { ...wish, required: ['email', 'name'] } },
    /name is required now/,
  ],
  [
    'a value of a body is refused now',
    { wish: withField(wish, 'kind', { type: 'string', enum: ['a'] }) },
    /lost the value b/,
  ],
  [
    'a limit of a body is tighter',
    { wish: withField(wish, 'email', { type: 'string', maxLength: 100 }) },
    /maxLength takes less/,
  ],
  ['a parameter goes', { parameters: [] }, /the parameter limit was removed/],
  [
    'a parameter is required now',
    { parameters: [{ ...limit, required: true }] },
    /limit is required now/,
  ],
  ['a read key is not enough any more', { permission: 'write' }, /a write key is needed now/],
];
for (const [what, over, complaint] of stumbles) {
  test(`breakingChanges reports that ${what}`, () => {
    const found = changes(over);
    assert.equal(found.length, 1, found.join('\n'));
    assert.match(found[0]!, complaint);
  });
}
