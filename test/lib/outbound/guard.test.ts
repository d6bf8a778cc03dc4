import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { forbiddenTarget } from '../../../src/lib/outbound/connect.ts';
import { createOutbound, type Post } from '../../../src/lib/outbound/post.ts';

type Handler = (request: IncomingMessage, answer: ServerResponse) => void;
const ok: Handler = (request, answer) => request.resume().on('end', () => answer.end('ok'));

/** Only these tests listen on 127.0.0.2, so a port that is free on 127.0.0.1 is free there too. */
async function listen(t: TestContext, handler: Handler, { address = '127.0.0.1', port = 0 } = {}) {
  const server = createServer(handler);
  await once(server.listen(port, address), 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return { server, port: portOf(server), connections: countConnections(server) };
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

function countConnections(server: Server) {
  const count = { all: 0, now: 0, most: 0 };
  server.on('connection', (socket) => {
    count.all += 1;
    count.most = Math.max(count.most, ++count.now);
    socket.on('close', () => count.now--);
  });
  return count;
}

type Settings = Partial<Parameters<typeof createOutbound>[0]>;
const made: ReturnType<typeof createOutbound>[] = [];
after(() => Promise.all(made.map((outbound) => outbound.close())));

function outboundTo(...allow: string[]) {
  return (settings: Settings = {}) => {
    const outbound = createOutbound({ allow, http: true, perHostConnections: 100, ...settings });
    made.push(outbound);
    const post = (url: string, { deadlineMs = 30_000, ...more }: Partial<Post> = {}) =>
      outbound.post(url, {
        group: 'a',
        headers: { 'x-a': 'b' },
        body: '{"ä":1}',
        deadlineMs,
        ...more,
      });
    return { ...outbound, post };
  };
}

const loopback = outboundTo('127.0.0.0/8');
const names = (addresses: Record<string, string[]>) => (name: string) =>
  addresses[name] ? Promise.resolve(addresses[name]) : Promise.reject(new Error('no such name'));

test('body, path and headers arrive unchanged', async (t) => {
  let seen: { url: string; method: string; headers: IncomingMessage['headers']; body: string };
  const { port } = await listen(t, async (request, answer) => {
    const body = Buffer.concat(await request.toArray()).toString();
    seen = { url: request.url!, method: request.method!, headers: request.headers, body };
    answer.writeHead(202).end('thanks');
  });

  const answer = await loopback().post(`http://127.0.0.1:${port}/hook?a=b#c`);

  assert.deepEqual(
    { ...answer, durationMs: 0 },
    {
      statusCode: 202,
      body: 'thanks',
      retryAfterSeconds: null,
      error: null,
      errorKind: null,
      durationMs: 0,
    },
  );
  assert.deepEqual([seen!.method, seen!.url, seen!.body], ['POST', '/hook?a=b', '{"ä":1}']);
  assert.equal(seen!.headers['accept-encoding'], 'identity');
  assert.equal(seen!.headers['x-a'], 'b');
  assert.equal(seen!.headers['content-length'], '8');
});

test('a redirect is not followed', async (t) => {
  const paths: string[] = [];
  const { port } = await listen(t, (request, answer) => {
    paths.push(request.url!);
    answer.writeHead(307, { location: '/inside' }).end();
  });

  const answer = await loopback().post(`http://127.0.0.1:${port}/hook`);

  assert.equal(answer.statusCode, 307);
  assert.deepEqual(paths, ['/hook']);
});

test('a forbidden address is not dialled', async (t) => {
  const { port, connections } = await listen(t, ok);

  const answer = await outboundTo()().post(`http://127.0.0.1:${port}/`);

  assert.deepEqual([answer.errorKind, answer.error], ['forbidden', forbiddenTarget]);
  assert.equal(connections.all, 0);
});

test('a name with a forbidden address is not dialled', async (t) => {
  const { port, connections } = await listen(t, ok);
  const resolve = names({ 'both.example': ['127.0.0.1', '10.0.0.1'] });

  const answer = await outboundTo('127.0.0.1/32')({ resolve }).post(`http://both.example:${port}/`);

  assert.deepEqual([answer.errorKind, answer.error], ['forbidden', forbiddenTarget]);
  assert.equal(connections.all, 0);
});

test('a name is resolved once and the checked address is dialled', async (t) => {
  const trap = await listen(t, ok);
  const good = await listen(t, ok, { address: '127.0.0.2', port: trap.port });
  const answers = [['127.0.0.2'], ['127.0.0.1']];
  const resolve = () => Promise.resolve(answers.shift() ?? []);

  const answer = await outboundTo('127.0.0.2/32')({ resolve }).post(
    `http://two.example:${good.port}/`,
  );

  assert.equal(answer.statusCode, 200);
  assert.equal(answers.length, 1);
  assert.deepEqual([good.connections.all, trap.connections.all], [1, 0]);
});

test('a name is checked again on each connection', async (t) => {
  const trap = await listen(t, ok);
  const good = await listen(
    t,
    (request, answer) =>
      request.resume().on('end', () => answer.writeHead(200, { connection: 'close' }).end()),
    { address: '127.0.0.2', port: trap.port },
  );
  const answers = [['127.0.0.2'], ['127.0.0.1']];
  const resolve = () => Promise.resolve(answers.shift() ?? []);
  const { post } = outboundTo('127.0.0.2/32')({ resolve });

  const first = await post(`http://turns.example:${good.port}/`);
  const second = await post(`http://turns.example:${good.port}/`);

  assert.deepEqual([first.statusCode, second.errorKind], [200, 'forbidden']);
  assert.equal(trap.connections.all, 0);
});

test('the peer address is checked after connecting', async (t) => {
  let requests = 0;
  const { port, connections } = await listen(t, () => requests++);

  const answer = await outboundTo('0.0.0.0/32')().post(`http://0.0.0.0:${port}/`);

  assert.equal(answer.errorKind, 'forbidden');
  assert.deepEqual([connections.all, requests], [1, 0]);
});

test('a name falls back to its second address', async (t) => {
  const { port } = await listen(t, ok, { address: '127.0.0.2' });
  const resolve = names({ 'two.example': ['127.0.0.3', '127.0.0.2'] });

  assert.equal((await loopback({ resolve }).post(`http://two.example:${port}/`)).statusCode, 200);
});

test('localhost needs an allowed loopback and no name server', async (t) => {
  const { port } = await listen(t, ok);
  const resolve = names({});

  const opened = await loopback({ resolve }).post(`http://app.localhost.:${port}/`);
  const closed = await outboundTo()({ resolve }).post(`http://app.localhost.:${port}/`);

  assert.deepEqual([opened.statusCode, closed.errorKind], [200, 'forbidden']);
});

test('an unknown name is an outcome', async () => {
  const answer = await loopback().post('http://does-not-exist.invalid/');
  assert.deepEqual([answer.statusCode, answer.errorKind], [null, 'dns']);
});

test('a cancelled request is never sent', async (t) => {
  const bodies: string[] = [];
  const { port } = await listen(t, async (request, answer) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    answer.end();
  });
  const found = Promise.withResolvers<string[]>();
  const { post } = loopback({ resolve: () => found.promise, perHostConnections: 1 });
  const url = `http://slow.example:${port}/`;

  const first = await post(url, { body: 'first', deadlineMs: 100 });
  const second = post(url, { body: 'second' });
  found.resolve(['127.0.0.1']);

  assert.deepEqual([first.errorKind, (await second).statusCode], ['timeout', 200]);
  assert.deepEqual(bodies, ['second']);
});

test('a body above 64 KiB is cut, and the status still counts', async (t) => {
  const { port } = await listen(t, (request, answer) => {
    const length = request.url === '/over' ? 65_537 : 65_536;
    request.resume().on('end', () => answer.write('x'.repeat(length)));
  });
  const { post } = loopback();

  const over = await post(`http://127.0.0.1:${port}/over`);
  const fits = await post(`http://127.0.0.1:${port}/fits`, { deadlineMs: 5000 });

  assert.deepEqual([over.statusCode, over.errorKind], [200, null]);
  assert.deepEqual([fits.statusCode, fits.errorKind], [200, 'timeout']);
});

test('a refused connection is an outcome', async (t) => {
  const { server, port } = await listen(t, ok);
  server.close();
  await once(server, 'close');

  const answer = await loopback().post(`http://127.0.0.1:${port}/`);
  assert.deepEqual([answer.errorKind, answer.error], ['connect', 'the connection was refused']);
});

test('check refuses private names and accepts unknown ones', async () => {
  const resolve = names({
    'inside.example': ['93.184.215.14', '10.0.0.1'],
    'out.example': ['1.1.1.1'],
  });
  const { check } = outboundTo()({ resolve, http: false });

  assert.equal(await check('https://inside.example/'), forbiddenTarget);
  assert.equal(await check('https://out.example/'), null);
  assert.equal(await check('https://nowhere.example/'), null);
  assert.equal(await check('https://127.0.0.1/'), forbiddenTarget);
  assert.equal(await check('http://out.example/'), 'the url must begin with https://');
});

test('connections per host are limited and shared', async (t) => {
  const { port, connections } = await listen(t, ok);
  const { post } = loopback({ perHostConnections: 3 });

  const answers = await Promise.all(
    Array.from({ length: 50 }, () => post(`http://127.0.0.1:${port}/`)),
  );

  assert.ok(answers.every(({ statusCode }) => statusCode === 200));
  assert.equal(connections.most, 3);
});

test('hanging requests of a group do not delay another group', async (t) => {
  let hanging = 0;
  const full = Promise.withResolvers<void>();
  const { port } = await listen(t, (request, answer) => {
    if (request.url === '/fine') ok(request, answer);
    else if (++hanging === 7) full.resolve();
  });
  const { post, close } = loopback({ perHostConnections: 9 });
  const url = `http://127.0.0.1:${port}`;

  const hung = Array.from({ length: 20 }, () => post(`${url}/hang`, { deadlineMs: 60_000 }));
  await full.promise;
  for (let at = 0; at < 5; at++) {
    const { statusCode } = await post(`${url}/fine`, { group: 'b', deadlineMs: 30_000 });
    assert.equal(statusCode, 200);
  }

  assert.equal(hanging, 7);
  await close();
  await Promise.all(hung);
});

test('a request without a connection in time fails as busy', async (t) => {
  let requests = 0;
  const { port } = await listen(t, () => requests++);
  const { post } = loopback({ perHostConnections: 1 });
  const url = `http://127.0.0.1:${port}/`;

  const hanging = post(url, { deadlineMs: 2000 });
  const waiting = await post(url, { deadlineMs: 200 });

  assert.deepEqual([waiting.errorKind, (await hanging).errorKind], ['busy', 'timeout']);
  assert.equal(requests, 1);
});

const bodies: [what: string, sent: Buffer | string, kept: string][] = [
  ['bytes that are no UTF-8 are replaced', Buffer.from([0x61, 0xff, 0x62]), 'a\u{fffd}b'],
  ['NULs are removed', 'a\0b\0', 'ab'],
  ['a body over 4 KiB is cut', 'x'.repeat(4_097), 'x'.repeat(4_096)],
  ['replaced bytes do not make it longer', Buffer.alloc(4_000, 0xff), '\u{fffd}'.repeat(1_365)],
  ['a body of exactly 64 KiB is read to its end', 'x'.repeat(65_536), 'x'.repeat(4_096)],
];

for (const [what, sent, kept] of bodies) {
  test(what, async (t) => {
    const { port } = await listen(t, (request, answer) =>
      request.resume().on('end', () => answer.end(sent)),
    );
    const answer = await loopback().post(`http://127.0.0.1:${port}/`);
    assert.deepEqual([answer.statusCode, answer.error], [200, null]);
    assert.equal(answer.body, kept);
  });
}

test('an invalid header throws instead of becoming an outcome', async (t) => {
  const { port } = await listen(t, ok);
  const headers = { 'x-a': 'one\r\nx-b: two' };
  await assert.rejects(loopback().post(`http://127.0.0.1:${port}/`, { headers }), {
    code: 'UND_ERR_INVALID_ARG',
  });
});
