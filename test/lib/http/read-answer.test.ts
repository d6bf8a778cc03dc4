import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { answerRead, cachedPage } from '../../../src/lib/http/read-answer.ts';

const app = new Hono();
app.get('/:length', (c) => answerRead(c, JSON.stringify('x'.repeat(+c.req.param('length') - 2))));

for (const [length, encoding] of [
  [1023, null],
  [1024, 'gzip'],
] as const) {
  test(`an answer of ${length} characters is sent ${encoding ? 'compressed' : 'uncompressed'}`, async () => {
    const answer = await app.request(`/${length}`, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(answer.headers.get('Content-Encoding'), encoding);
  });
}

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

const lists = new Hono();
lists.get('/list', (c) => answerRead(c, c.req.header('json')!));
const linkIn = async (json: object, query = '') => {
  const answer = await lists.request(`/list${query}`, { headers: { json: JSON.stringify(json) } });
  return answer.headers.get('Link');
};

test('the next page is the cursor at the end of the list', async () => {
  const data = [{ properties: { next_cursor: 'b' }, text: '"next_cursor":"c"' }];
  const more = { ignored: ['"d"'] };
  assert.equal(
    await linkIn({ data, meta: { next_cursor: 'a', ...more } }),
    '</list?cursor=a>; rel="next"',
  );
  assert.equal(await linkIn({ data, meta: { next_cursor: null, ...more } }), null);
});

test('the link to the next page keeps the query except the page', async () => {
  const list = { meta: { next_cursor: 'a' } };
  assert.equal(
    await linkIn(list, '?page=2&tag=x%20y&limit=5&cursor=z'),
    '</list?tag=x+y&limit=5&cursor=a>; rel="next"',
  );
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

test('a cached page has gzip and an ETag', async () => {
  const get = pageOf(() => 'hello');
  const zipped = await get({ 'Accept-Encoding': 'gzip' });
  assert.equal(gunzipSync(Buffer.from(await zipped.arrayBuffer())).toString(), 'hello');
  const again = await get({ 'If-None-Match': (await get()).headers.get('ETag')! });
  assert.deepEqual([again.status, await again.text()], [304, '']);
});
