import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiDocument, docsRoutes } from '../src/api.ts';

const settings = { serviceName: 'Askback', maxContacts: 1000 };
const docs = docsRoutes({ settings, publicUrl: 'https://feedback.example' });

test('openapi.json is the document', async () => {
  const answer = await docs.request('/openapi.json');
  assert.match(answer.headers.get('Content-Type') ?? '', /^application\/json/);
  assert.deepEqual(await answer.json(), JSON.parse(JSON.stringify(apiDocument(settings))));
});

test('the samples of /docs call the public address, whatever the Host header says', async () => {
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
