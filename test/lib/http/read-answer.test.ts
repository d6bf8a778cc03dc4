import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { answerRead, cachedPage } from '../../../src/lib/http/read-answer.ts';

const app = new Hono();
app.get('/:length', (c) => answerRead(c, JSON.stringify('x'.repeat(+c.req.param('length') - 2))));

for (const [accepted, encoding] of [
  ['GZIP', 'gzip'],
  ['br, gzip;q=0.1', 'gzip'],
  ['*', 'gzip'],
  ['gzip;level=1;q=0', null],
  ['Gzip;Q=0.00', null],
  ['br, deflate', null],
] as const) {
  test(`a caller that accepts ${accepted} gets ${encoding ? 'a compressed' : 'an uncompressed'} answer`, async () => {
    const answer = await app.request('/2000', { headers: { 'Accept-Encoding': accepted } });
    assert.equal(answer.headers.get('Content-Encoding'), encoding);
  });
}

test('a matching If-None-Match returns 304', async () => {
  const tag = (await app.request('/20')).headers.get('ETag')!;
  const statusWith = async (known: string) =>
    (await app.request('/20', { headers: { 'If-None-Match': known } })).status;
  const opaque = tag.slice('W/'.length);
  const known = [tag, opaque, `"a", ${tag}`, `${opaque} , W/"a"`, '*', ' * '];
  for (const each of known) assert.equal(await statusWith(each), 304, each);
  for (const each of ['"a", W/"b"', opaque.slice(1, -1), '']) {
    assert.equal(await statusWith(each), 200, each);
  }
});

function pageOf(render: () => string) {
  const headers = { 'Content-Type': 'text/plain' };
  const app = new Hono().get('/', cachedPage(headers, render));
  return (headers: Record<string, string> = {}) => app.request('/', { headers });
}

test('a cached page is rendered again only after a failure', async () => {
  let renderings = 0;
  const get = pageOf(() => {
    renderings += 1;
    if (renderings === 1) throw new Error('not now');
    return 'hello '.repeat(500);
  });
  assert.equal((await get()).status, 500);
  for (const answer of await Promise.all([get(), get()])) {
    assert.equal(await answer.text(), 'hello '.repeat(500));
  }
  assert.equal(renderings, 2);
});
