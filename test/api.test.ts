import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as v from 'valibot';
import { breakingChanges } from '../ops/build/breaking-changes.ts';
import { apiDocument, docsRoutes, errorTable } from '../src/api.ts';
import { connect } from '../src/lib/db/db.ts';
import { withoutReferences, withReferences } from '../src/lib/openapi/references.ts';
import {
  detractorDetected,
  payloads,
  responseReceived,
  summaryGenerated,
  surveyCompleted,
} from '../src/webhooks/events.ts';
import { testSettings } from './support/make/settings.ts';
import { bareApp } from './support/probe/app.ts';

const document = apiDocument(testSettings);
const routes = bareApp(connect('postgres://someone@127.0.0.1:1/none', { connections: 1 })).routes;
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

test('the API document only adds to the released one', () => {
  const released = withoutReferences(JSON.parse(readFileSync('ops/openapi.json', 'utf8')));
  assert.deepEqual(breakingChanges(released, document), []);
});

test('ops/openapi.json and ops/errors.md are up to date', () => {
  const kept = JSON.parse(readFileSync('ops/openapi.json', 'utf8'));
  const current = apiDocument({ serviceName: 'Service', maxContacts: 1000 });
  assert.deepEqual(withReferences(current), kept, 'run make openapi');
  assert.ok(readFileSync('ops/errors.md', 'utf8').includes(errorTable), 'run make openapi');
});

test('the API document describes exactly the routes of the API', () => {
  const places = routes
    .filter(
      ({ method, path }) => method !== 'ALL' && (path.startsWith('/api/') || isLink(method, path)),
    )
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
  assert.deepEqual([...new Set(places)].sort(), described.sort());
});

const isLink = (method: string, path: string) => method === 'POST' && /^\/[sf]\/:\w+$/.test(path);

const published = withReferences(document);

test('the published document resolves to the full one', () => {
  assert.deepEqual(withoutReferences(published).paths, JSON.parse(JSON.stringify(document.paths)));
  const sizes = [published, document].map((each) => JSON.stringify(each).length);
  assert.ok(sizes[0]! < 0.7 * sizes[1]!, sizes.join());
  const { responses } = published.paths['/api/v1/surveys/{id}']!['get']!;
  assert.deepEqual(responses[404], { $ref: '#/components/responses/SurveyNotFoundError' });
});

test('every operation has its own sentences for 400 and 404', () => {
  const sentences = (path: string, method: string) =>
    [400, 404].map((status) => {
      const { content } = document.paths[path]![method]!.responses[status]!;
      return (content!['application/json']!.example as { error: string }).error;
    });
  assert.deepEqual(sentences('/api/v1/tags/{id}', 'patch'), [
    'name: must be text',
    'tag not found',
  ]);
  assert.match(
    sentences('/api/v1/contacts', 'post').join(),
    /^.*email is required.*,survey not found$/,
  );
  assert.match(
    sentences('/api/v1/people/{email}', 'delete').join(),
    /^scores: .*,person not found$/,
  );
});

test('every reference in the document resolves', () => {
  for (const [, path] of JSON.stringify(published).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path!.split('/').reduce<unknown>((at, name) => {
      return (at as Record<string, unknown> | undefined)?.[name];
    }, published);
    assert.ok(found, String(path));
  }
});

test("delivery headers contain the operator's name for the service", () => {
  const { webhooks } = apiDocument({ ...testSettings, serviceName: 'Acme' });
  const names = webhooks['survey.completed']?.post.parameters.map(({ name }) => name);
  assert.deepEqual(names?.slice(0, 3), ['X-Acme-Signature', 'X-Acme-Event', 'X-Acme-Delivery-Id']);
});

const id = '3f2b8c1e-5d47-4a90-9b1c-7e6f0d2a4c58';
const answer = {
  surveyId: id,
  responseId: id,
  surveyType: 'csat',
  score: 1,
  at: new Date(0),
} as const;
const tally = { promoters: 0, passives: 0, detractors: 0 };
const events = [
  responseReceived({ ...answer, comment: null }),
  detractorDetected({ ...answer, excerpt: 'bad' }),
  detractorDetected({ ...answer, excerpt: null }),
  surveyCompleted({
    ...tally,
    surveyId: id,
    name: 'S',
    contacts: 3,
    responded: 1,
    at: new Date(0),
  }),
  summaryGenerated({
    reportType: 'executive-summary',
    nps: null,
    themes: ['price'],
    at: new Date(0),
  }),
];
for (const { type, body } of events) {
  test(`${type} has exactly the documented fields: ${body.length} bytes`, () => {
    const schema = v.strictObject(payloads[type].entries as v.ObjectEntries);
    assert.ok(v.is(schema, JSON.parse(body)), body);
  });
}

const settings = { serviceName: 'Askback', maxContacts: 1000 };
const docs = docsRoutes({ settings, publicUrl: 'https://feedback.example' });

test('/openapi.json serves the API document', async () => {
  const answer = await docs.request('/openapi.json');
  assert.match(answer.headers.get('Content-Type') ?? '', /^application\/json/);
  assert.deepEqual(await answer.json(), withReferences(apiDocument(settings)));
});

test('the samples of /docs ignore the Host header', async () => {
  const answer = await docs.request('https://evil.example/docs', {
    headers: { Host: 'evil.example' },
  });
  const text = await answer.text();
  assert.ok(text.includes('https://feedback.example/api/'));
  assert.ok(!text.includes('evil.example'));
});

test('/docs and /openapi.json come with an ETag and are revalidated by it', async () => {
  for (const path of ['/docs', '/openapi.json']) {
    const answer = await docs.request(path);
    const etag = answer.headers.get('ETag')!;
    assert.equal(answer.headers.get('Cache-Control'), 'no-cache');
    const again = await docs.request(path, { headers: { 'If-None-Match': etag } });
    assert.equal(again.status, 304);
  }
});
