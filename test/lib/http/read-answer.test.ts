import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { answerRead } from '../../../src/lib/http/read-answer.ts';

const app = new Hono();
app.get('/:length', (c) => answerRead(c, JSON.stringify('x'.repeat(+c.req.param('length') - 2))));

for (const [length, encoding] of [
  [1023, null],
  [1024, 'gzip'],
] as const) {
  test(`an answer of ${length} characters is sent ${encoding ? 'compressed' : 'as it is'}`, async () => {
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
  test(`a caller that accepts ${accepted} gets an answer that is ${encoding ? 'compressed' : 'as it is'}`, async () => {
    const answer = await app.request('/2000', { headers: { 'Accept-Encoding': accepted } });
    assert.equal(answer.headers.get('Content-Encoding'), encoding);
  });
}

test('a caller that knows the answer, by its tag alone or among others, is not sent it again', async () => {
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

test('the next page of a list is that of its end, whatever its items hold', async () => {
  const data = [{ properties: { next_cursor: 'b' }, text: '"next_cursor":"c"' }];
  const more = { ignored: ['"d"'] };
  assert.equal(
    await linkIn({ data, meta: { next_cursor: 'a', ...more } }),
    '</list?cursor=a>; rel="next"',
  );
  assert.equal(await linkIn({ data, meta: { next_cursor: null, ...more } }), null);
});

test('the address of the next page keeps what was asked, but for the page', async () => {
  const list = { meta: { next_cursor: 'a' } };
  assert.equal(
    await linkIn(list, '?page=2&tag=x%20y&limit=5&cursor=z'),
    '</list?tag=x+y&limit=5&cursor=a>; rel="next"',
  );
});
