import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Hono } from 'hono';
import { readBody } from '../../../src/lib/http/body.ts';
import { answerError, type RequestEnv } from '../../../src/lib/http/http.ts';
import { listen } from '../../../src/lib/http/listen.ts';
import { createLog } from '../../../src/lib/log/log.ts';

const generous = {
  headMs: 60_000,
  requestMs: 60_000,
  uploadMs: 60_000,
  connections: 10,
  perClient: 10,
};

async function opened(
  t: TestContext,
  limits: Partial<typeof generous>,
  trustedProxies: string[] = [],
) {
  const log = createLog({ level: 'silent' });
  let ended: (status: number) => void = () => {};
  let begun: () => void = () => {};
  const app = new Hono<RequestEnv>()
    .use(async (c, next) => {
      begun();
      await next();
      ended(c.res.status);
    })
    .onError(answerError(log, () => undefined))
    .post('/', async (c) => c.text(await readBody(c)))
    .post('/uploads', async (c) => c.text(await readBody(c)))
    .post('/begun', () => new Response(endless()));
  const listener = await listen(
    { host: '127.0.0.1', port: 0 },
    { limits: { ...generous, ...limits }, trustedProxies, uploads: /^\/uploads$/ },
  );
  t.after(() => listener.close());
  await listener.open(app.fetch);
  const send = (bytes: string) => {
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(bytes);
    return socket;
  };
  const requestEnded = () => new Promise<number>((resolve) => (ended = resolve));
  const requestBegun = () => new Promise<void>((resolve) => (begun = resolve));
  return { send, requestBegun, requestEnded };
}

/** A request body that never ends. */
const endless = () =>
  new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('begun')) });

function errorIn(answer: string): { error: string; code: string } {
  const [head, body] = answer.split('\r\n\r\n');
  assert.match(head!, new RegExp(`^Content-Length: ${body!.length}$`, 'm'));
  return JSON.parse(body!);
}

test('a request with endless headers returns 408 and is closed', async (t) => {
  const { send } = await opened(t, { headMs: 100 });
  const answer = await text(send('POST / HTTP/1.1\r\nHost: a\r\n'));
  assert.match(answer, /^HTTP\/1.1 408 /);
  assert.equal(errorIn(answer).code, 'request_timeout');
});

test('a request with an endless body returns 408', async (t) => {
  const { send, requestEnded } = await opened(t, { requestMs: 200, headMs: 200 });
  for (const framing of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
    const head = `POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`;
    const end = requestEnded();
    const answer = await text(send(`${head}5\r\nhello`));
    assert.match(answer, /^HTTP\/1.1 408 /, framing);
    assert.match(errorIn(answer).error, /^the request did not arrive completely in time/, framing);
    assert.equal(await end, 400, framing);
  }
});

test('an upload may take longer than other requests', async (t) => {
  const { send } = await opened(t, { requestMs: 100, headMs: 100 });
  const head = 'HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nab';
  const upload = send(`POST /uploads ${head}`);
  assert.match(await text(send(`POST / ${head}`)), /^HTTP\/1.1 408 /);
  upload.write('cd');
  assert.match(await text(upload), /^HTTP\/1.1 200 [\s\S]*abcd$/);
});

test('invalid HTTP and too long headers get an error and are closed', async (t) => {
  const { send } = await opened(t, {});
  const nonsense = await text(send('\x16\x03\x01 hello\r\n\r\n'));
  assert.match(nonsense, /^HTTP\/1.1 400 /);
  assert.equal(errorIn(nonsense).code, 'malformed_request');
  const long = await text(send(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`));
  assert.match(long, /^HTTP\/1.1 431 /);
  assert.equal(errorIn(long).code, 'headers_too_large');
});

test('a started answer is not followed by an error', async (t) => {
  const { send } = await opened(t, { requestMs: 200, headMs: 200 });
  const head = 'POST /begun HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n';
  const answer = await text(send(head)).catch(() => '');
  assert.doesNotMatch(answer, /408/);
});

const unfinished = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';
const whole = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok';

for (const limits of [{ connections: 1 }, { perClient: 1 }]) {
  const [limit] = Object.keys(limits);
  test(`a connection above ${limit} is closed when all others are busy`, async (t) => {
    const { send, requestBegun } = await opened(t, limits);
    const begun = requestBegun();
    const first = send(unfinished);
    await begun;
    assert.equal(await text(send(whole)).catch(() => ''), '');
    first.write('ok');
    assert.match(String((await once(first, 'data'))[0]), /^HTTP\/1.1 200 OK/);
    first.destroy();
  });

  test(`a connection above ${limit} replaces the longest idle one`, async (t) => {
    const { send } = await opened(t, Object.fromEntries([[limit!, 2]]));
    const answered = send(whole);
    await once(answered, 'data');
    const silent = send('');
    await once(silent, 'connect');
    silent.resume();
    answered.write(whole);
    await once(answered, 'data');

    const newest = send(whole);

    assert.match(String((await once(newest, 'data'))[0]), /^HTTP\/1.1 200 OK/);
    assert.ok(silent.closed || (await once(silent, 'close')));
    assert.equal(answered.closed, false);
    for (const socket of [answered, newest]) socket.destroy();
  });
}

test('a trusted proxy may have more connections than a client', async (t) => {
  const { send } = await opened(t, { perClient: 1 }, ['127.0.0.0/8']);
  const silent = send('');
  await once(silent, 'connect');
  silent.resume();
  const second = send(whole);
  await once(second, 'data');
  assert.equal(silent.closed, false);
  for (const socket of [silent, second]) socket.destroy();
});
