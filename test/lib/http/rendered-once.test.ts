import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { renderedOnce } from '../../../src/lib/http/rendered-once.ts';

function page(render: () => string | Promise<string> = () => 'hello '.repeat(500)) {
  let renderings = 0;
  const app = new Hono().get(
    '/',
    renderedOnce({ 'Content-Type': 'text/plain' }, () => {
      renderings += 1;
      return render();
    }),
  );
  const get = (headers: Record<string, string> = {}) => app.request('/', { headers });
  return { get, renderings: () => renderings };
}

test('a page is rendered once, also for callers that come together', async () => {
  const { get, renderings } = page();
  const answers = await Promise.all([get(), get(), get()]);
  for (const answer of answers) assert.equal(await answer.text(), 'hello '.repeat(500));
  assert.equal(renderings(), 1);
});

test('a page that could not be rendered is tried again', async () => {
  let failing = true;
  const { get } = page(() => {
    if (failing) throw new Error('not now');
    return 'fine';
  });
  assert.equal((await get()).status, 500);
  failing = false;
  assert.equal(await (await get()).text(), 'fine');
});

test('a page is compressed for a client that accepts gzip', async () => {
  const { get } = page();
  for (const accepted of ['gzip', 'br, gzip;q=0.5', '*', 'deflate,GZIP']) {
    const answer = await get({ 'Accept-Encoding': accepted });
    assert.equal(answer.headers.get('Content-Encoding'), 'gzip', accepted);
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.equal(gunzipSync(bytes).toString(), 'hello '.repeat(500));
  }
  for (const accepted of ['', 'br', 'gzip;q=0', 'gzip; q=0.000']) {
    const answer = await get({ 'Accept-Encoding': accepted });
    assert.equal(answer.headers.get('Content-Encoding'), null, accepted);
  }
});

test('a client that has the page gets 304 without a body, and by the tag of its own form', async () => {
  const { get } = page();
  const plain = (await get()).headers.get('ETag')!;
  const zipped = (await get({ 'Accept-Encoding': 'gzip' })).headers.get('ETag')!;
  assert.notEqual(plain, zipped);
  for (const known of [plain, `"other", W/${plain}`, '*']) {
    const answer = await get({ 'If-None-Match': known });
    assert.equal(answer.status, 304, known);
    assert.equal(await answer.text(), '');
    assert.equal(answer.headers.get('Vary'), 'Accept-Encoding');
  }
  assert.equal((await get({ 'If-None-Match': zipped })).status, 200);
});
