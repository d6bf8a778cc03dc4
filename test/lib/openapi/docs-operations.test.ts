import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { renderDocs } from '../../../src/lib/openapi/docs.tsx';
import { describeApi, type Operations } from '../../../src/lib/openapi/openapi.ts';

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
