import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { renderDocs, rowsOf, wordsOf } from '../../../src/lib/openapi/docs.tsx';
import { describeApi, type Operations } from '../../../src/lib/openapi/openapi.ts';
import { jsonSchema } from '../../../src/lib/openapi/operation.ts';

const answer = { about: 'a cup', schema: v.object({ id: v.string() }) };
const operations: Operations = {
  'get /cups': { id: 'open', summary: 'Open', isPublic: true, answer },
  'get /api/v1/cups/{id}': { id: 'read', summary: 'Read', answer },
  'put /api/v1/cups/{id}': { id: 'write', summary: 'Write', answer },
};

const document = describeApi({
  info: {
    title: 'Cups',
    version: '1',
    description: 'Of tea.',
    contact: { name: 'Ann' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  sections: [{ name: 'Cups', about: 'Of tea.', schemas: {}, operations }],
  messages: [],
  messageHeaders: {},
  examples: {},
});
const text = renderDocs(document, 'https://tea.example').replaceAll('&#39;', "'");
const shown = (id: string) =>
  text.split(`<section class="operation" id="${id}">`)[1]!.split('<section class="operation"')[0]!;

test('the curl example has the method, and a key if required', () => {
  const linesOf = (id: string) =>
    /curl[^<]*/.exec(shown(id))![0].replaceAll('&quot;', '"').split(' \\\n  ');
  const key = '-H "X-API-Key: $API_KEY"';
  assert.deepEqual(linesOf('open'), ["curl 'https://tea.example/cups'"]);
  assert.deepEqual(linesOf('read'), ["curl 'https://tea.example/api/v1/cups/id'", key]);
  assert.deepEqual(linesOf('write'), ["curl -X PUT 'https://tea.example/api/v1/cups/id'", key]);
});

test('only writing operations are marked with a write key', () => {
  const marked = ['open', 'read', 'write'].filter((id) => /write key/.test(shown(id)));
  assert.deepEqual(marked, ['write']);
});

test('an operation lists all errors by status', () => {
  const listed = [...shown('write').matchAll(/<dt>(\d+)<\/dt>/g)].map(([, status]) => status);
  assert.deepEqual(listed, ['400', '401', '403', '404', '429', '500', '503']);
});

const rows = (entries: v.ObjectEntries) =>
  rowsOf(jsonSchema(v.object(entries), 'input', {}), {}).map(({ path }) => path);
const nested = (levels: number): v.GenericSchema =>
  levels === 0 ? v.string() : v.object({ in: nested(levels - 1) });

test('nested fields are shown to the fifth level', () => {
  const levels = ['top', 'top.in', 'top.in.in', 'top.in.in.in', 'top.in.in.in.in'];
  for (const deep of [4, 5, 6]) assert.deepEqual(rows({ top: nested(deep) }), levels, `${deep}`);
  assert.deepEqual(rows({ top: nested(3) }), levels.slice(0, -1));
});

test('only the first alternative of a field is shown', () => {
  const either = v.union([v.object({ one: v.string() }), v.object({ other: v.string() })]);
  assert.deepEqual(rows({ either, list: v.array(either), maybe: v.nullable(either) }), [
    'either',
    'either.one',
    'list',
    'list[].one',
    'maybe',
    'maybe.one',
  ]);
});

for (const [schema, words] of [
  [v.pipe(v.number(), v.integer(), v.minValue(0)), 'integer, 0 or more'],
  [v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)), 'integer, 0 to 10'],
  [v.pipe(v.string(), v.maxLength(3)), 'string, at most 3 characters'],
  [v.nullable(v.array(v.string())), 'list of string or null'],
  [v.optional(v.picklist(['a', 'b']), 'a'), 'a | b, default a'],
  [v.literal(0), '0'],
] as const) {
  test(`a schema is described as ${words}`, () =>
    assert.equal(wordsOf(jsonSchema(schema, 'input', {}), {}), words));
}
