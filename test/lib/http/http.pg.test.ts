import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as dial } from 'node:net';
import { after, test } from 'node:test';
import { serve } from '@hono/node-server';
import * as v from 'valibot';
import { connect, poolBusy } from '../../../src/lib/db/db.ts';
import { parseBody } from '../../../src/lib/http/body.ts';
import { makeClient } from '../../support/make/rows.ts';
import { bareApp } from '../../support/probe/app.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { keptLog } from '../../support/probe/log.ts';

const { db } = await testDatabase();
const { write } = await makeClient(db);
const largest = 1024 * 1024;

const { lines, log } = keptLog();
const app = bareApp(db, { log });
const Echo = v.looseObject({ text: v.optional(v.string(), '') });
app.post('/api/v1/echo', async (c) => c.json({ data: await parseBody(c, Echo) }));
const Strict = v.object({ text: v.string() });
app.post('/api/v1/strict', async (c) => c.json({ data: await parseBody(c, Strict) }));
app.get('/api/v1/echo/:id', (c) => c.json({ data: c.req.param('id') }));
app.put('/api/v1/echo/:id', (c) => c.json({ data: c.req.param('id') }));
app.get('/api/v1/broken', () => {
  throw new Error('secret: ann@acme.test');
});
app.post('/api/v1/full', async () => {
  await db`do ${db.unsafe("$$begin raise exception using errcode = 'disk_full'; end$$")}`;
});
app.post('/api/v1/full-for-connections', async () => {
  const text = 'could not write init file'; // Postgres 15 uses the code of an internal error
  await db`do ${db.unsafe(`$$begin raise exception using errcode = 'XX000', message = '${text}'; end$$`)}`;
});
app.post('/api/v1/busy', () => {
  throw Object.assign(new Error('others have all connections'), { code: poolBusy });
});

const server = serve({ fetch: app.fetch, port: 0 });
await once(server, 'listening');
after(() => server.close());
const port = (server.address() as { port: number }).port;

const get = async (path: string, headers = {}) =>
  app.request(path, { headers: { ...write, ...headers } });

test('an API path with a trailing slash returns 404 and says so', async () => {
  const answer = await get('/api/v1/busy/');
  assert.equal(answer.status, 404);
  const { error } = (await answer.json()) as { error: string };
  assert.equal(error, 'path not found: remove the trailing slash');
});

test('an unknown path returns 404 with a sentence, a code and the request id', async () => {
  const answer = await get('/api/v1/nothing', { 'X-Request-Id': 'abc-123' });
  assert.equal(answer.status, 404);
  assert.deepEqual(await answer.json(), {
    error: 'path not found',
    code: 'not_found',
    request_id: 'abc-123',
  });
});

test('a wrong method returns 405 and lists the allowed ones', async () => {
  const answer = await app.request('/api/v1/echo/1', { method: 'DELETE', headers: write });
  assert.equal(answer.status, 405);
  assert.equal(answer.headers.get('Allow'), 'GET, HEAD, OPTIONS, PUT');
  const { error, code } = (await answer.json()) as Record<string, unknown>;
  assert.equal(error, 'DELETE is not allowed here, only GET, HEAD, OPTIONS, PUT');
  assert.equal(code, 'method_not_allowed');
});

test('OPTIONS lists the methods and allows no other origin', async () => {
  const answer = await app.request('/api/v1/echo', {
    method: 'OPTIONS',
    headers: { ...write, Origin: 'https://elsewhere.test' },
  });
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get('Allow'), 'OPTIONS, POST');
  assert.equal(answer.headers.get('Access-Control-Allow-Origin'), null);
});

test('a body that is not JSON returns 400', async () => {
  for (const body of ['', '{', 'hello', '{"text":"a\nb"}', '{"a":1}x', "{'a':1}"]) {
    await refuses(await post(body), 400, /^the body is not JSON.*: send a JSON object with/);
  }
});

for (const [body, where] of [
  ['', ', but empty'],
  ['{"text": ', ', it ends too early'],
  ['{\n  "text": "a",\n}', ', at line 3 column 1'],
] as const) {
  test(`a body that is not JSON is refused with the place: ${JSON.stringify(body)}`, async () => {
    const meant = 'send a JSON object with Content-Type: application/json';
    const answer = await post(body);
    const { error } = (await answer.json()) as { error: string };
    assert.equal(error, `the body is not JSON${where}: ${meant}`);
  });
}

test('unknown fields are ignored and named in a header', async () => {
  const strict = (body: object) =>
    app.request('/api/v1/strict', { method: 'POST', headers: write, body: JSON.stringify(body) });
  const fine = await strict({ text: 'x' });
  assert.equal(fine.headers.get('X-Ignored-Fields'), null);
  const cut = `${'n'.repeat(63)}\u{1F600}`;
  const misspelt = await strict({ text: 'x', tekst: 'y', 'a, b\r\n': 1, [cut]: 1 });
  assert.equal(misspelt.status, 200);
  assert.deepEqual(await misspelt.json(), { data: { text: 'x' } });
  assert.equal(
    misspelt.headers.get('X-Ignored-Fields'),
    `tekst, a%2C%20b%0D%0A, ${'n'.repeat(63)}%EF%BF%BD`,
  );
  const missing = await strict({ tekst: 'y' });
  assert.equal(missing.status, 400);
  assert.equal(missing.headers.get('X-Ignored-Fields'), 'tekst');
  const many = await strict(Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`f${n}`, 1])));
  assert.equal(many.headers.get('X-Ignored-Fields')?.split(', ').length, 10);
});

test('a body that is not UTF-8 returns 400', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"text":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ]);
  await refuses(await post(bytes), 400, 'the body is not UTF-8');
});

test('a field named __proto__ returns 400 and changes no object', async () => {
  await refuses(await post('{"a":{"__proto__":{"polluted":1}}}'), 400, /__proto__/);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('a body of exactly 1 MiB is read, and one byte more returns 413', async () => {
  assert.equal((await post(bodyOf(largest))).status, 200);
  await refuses(await post(bodyOf(largest + 1)), 413, 'the body is larger than 1048576 bytes');
});

test('a declared length over the limit returns 413 before a byte is read', async () => {
  const answer = await talk(
    `POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nX-API-Key: ${write['X-API-Key']}\r\n` +
      'Content-Length: 99999999999\r\n\r\n',
  );
  assert.match(answer, /^HTTP\/1.1 413 /);
  assert.match(answer, /connection: close/i);
});

test('a body without length is read up to the limit', async () => {
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(32));
    },
  });
  const answer = await app.request('/api/v1/echo', {
    method: 'POST',
    headers: write,
    body: endless,
    duplex: 'half',
  } as RequestInit);
  await refuses(answer, 413, /larger/);
  assert.ok(sent < 2 * largest, `${sent} bytes were taken`);
});

test('an odd path returns 404 in every encoding', async () => {
  for (const path of [
    '/api/v1/%ZZ',
    '/api/v1/x%00',
    '/api/v1/%',
    '/api/v1/%ff',
    '/api/v1/%2e%2e',
    '//',
  ]) {
    assert.equal((await get(path)).status, 404, path);
  }
  assert.equal((await app.request('/%00')).status, 404);
});

test('an error returns 500 without its cause, which is logged', async () => {
  lines.length = 0;
  assert.equal((await get('/api/v1/nothing')).status, 404);
  assert.deepEqual(lines, []);
  const answer = await get('/api/v1/broken', { 'X-Request-Id': 'r-1' });
  assert.equal(answer.status, 500);
  assert.deepEqual(await answer.json(), {
    error: 'internal error',
    code: 'internal',
    request_id: 'r-1',
  });
  const fields = { err: 'secret: ann@acme.test', request_id: 'r-1', route: '/api/v1/broken' };
  assert.deepEqual(lines, [['error', 'unhandled error in request', fields]]);
});

test('a request without database returns 503 with Retry-After', async () => {
  const nowhere = connect('postgres://someone@127.0.0.1:1/none', { connections: 1 });
  const answer = await bareApp(nowhere).request('/api/v1/surveys', { headers: write });
  await nowhere.end({ timeout: 0 });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('Retry-After'), '1');
  const { error, code } = (await answer.json()) as Record<string, unknown>;
  assert.match(String(error), /database cannot be reached/);
  assert.equal(code, 'database_unavailable');
});

test('a full database disk returns 503 database_full', async () => {
  for (const path of ['/api/v1/full', '/api/v1/full-for-connections']) {
    const answer = await app.request(path, { method: 'POST', headers: write });
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get('Retry-After'), '10');
    const { error, code } = (await answer.json()) as Record<string, unknown>;
    assert.match(String(error), /^the disk of the database is full/);
    assert.equal(code, 'database_full');
  }
});

test('a request that waited too long returns 503 with Retry-After', async () => {
  const answer = await app.request('/api/v1/busy', { method: 'POST', headers: write });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('Retry-After'), '2');
  const { error, code } = (await answer.json()) as Record<string, unknown>;
  assert.match(String(error), /^too many requests of this organization/);
  assert.equal(code, 'too_busy');
});

const post = async (body: string | Uint8Array<ArrayBuffer>) =>
  app.request('/api/v1/echo', { method: 'POST', headers: write, body });

async function refuses(answer: Response, status: number, error: string | RegExp) {
  const body = (await answer.json()) as { error: string };
  assert.equal(answer.status, status, JSON.stringify(body).slice(0, 200));
  if (typeof error === 'string') assert.equal(body.error, error);
  else assert.match(body.error, error);
}

/** A JSON object with exactly this number of bytes. */
const bodyOf = (bytes: number) => `{"text":"${'x'.repeat(bytes - '{"text":""}'.length)}"}`;

/** Sends text to the server, then repeats `overAndOver` until it responds. Returns the response. */
function talk(words: string, overAndOver = ''): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = dial(port, '127.0.0.1');
  let answer = '';
  const goOn = () => {
    while (overAndOver && answer === '' && socket.write(overAndOver));
  };
  socket.on('data', (data) => {
    answer += data;
  });
  socket.on('error', () => {}); // the server may disconnect in the middle, and only its response counts
  socket.on('drain', goOn);
  socket.on('close', () => resolve(answer));
  socket.write(words);
  goOn();
  return promise;
}
