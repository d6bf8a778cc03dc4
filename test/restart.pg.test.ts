import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { get } from 'node:http';
import { BoundSocket } from 'node:net';
import { test } from 'node:test';
import { proxyTo } from './support/fakes/database-proxy.ts';
import { makeClient } from './support/make/rows.ts';
import { testDatabase } from './support/probe/database.ts';
import { requestStream } from './support/probe/request-stream.ts';
import { until } from './support/probe/until.ts';
import { addressIn, askback, secretKey, startService } from './support/processes/program.ts';

const { db, url: database } = await testDatabase();
const environment = (over: Record<string, string> = {}) => ({
  DATABASE_URL: database,
  ASKBACK_SECRET_KEY: secretKey,
  ...over,
});
const serving = (socket: BoundSocket, over: Record<string, string> = {}) =>
  startService(environment(over), ['serve'], [socket.fd()]);
const addressOf = (socket: BoundSocket) => `http://127.0.0.1:${socket.address().port}`;

test('restarts refuse and interrupt no request', async (t) => {
  const { read: headers } = await makeClient(db);
  using socket = new BoundSocket({ host: '127.0.0.1' });
  const unlimited = { ASKBACK_RATE_LIMIT: '1000000' };
  let service = serving(socket, unlimited);
  await service.ready();
  const url = `${addressOf(socket)}/api/v1/surveys`;
  const { requests, end } = requestStream(url, { fresh: 4, keeping: 4, headers });
  const exits: number[] = [];

  for (let restart = 0; restart < 3; restart++) {
    const answered = requests.length;
    await until('each process is asked a few times', () => requests.length > answered + 100);
    assert.equal(await service.stop(), 0);
    exits.push(performance.now());
    service = serving(socket, unlimited);
    await service.ready();
  }
  await end();

  const waited = exits.map((at) => requests.filter(({ begun, ended }) => begun < at && ended > at));
  t.diagnostic(
    `${requests.length} requests; across the restarts waited ${waited.map((it) => it.length)}`,
  );
  assert.deepEqual(new Set(requests.map(({ status }) => status)), new Set([200]));
  for (const { length } of waited) assert.ok(length > 0);
  assert.equal(await service.stop(), 0);
});

test('a passed socket replaces HOST and PORT', async () => {
  using socket = new BoundSocket({ host: '127.0.0.1' });
  const service = serving(socket, { HOST: '203.0.113.1', PORT: '1' });
  const address = addressOf(socket);
  assert.equal(addressIn(await service.ready()), address);
  assert.ok(service.stderr.lines.some((line) => line.includes(`${address}/mailbox`)));
  assert.equal(await service.stop(), 0);
});

test('a connection made before the service is ready is answered later', async () => {
  using socket = new BoundSocket({ host: '127.0.0.1' });
  const before = serving(socket);
  await before.ready();
  assert.equal(await before.stop(), 0);
  const proxy = await proxyTo(database);
  await proxy.cut();

  const service = serving(socket, { DATABASE_URL: proxy.url });
  await service.stderr.next(/^waiting up to 30 seconds/);
  const early = Promise.withResolvers<number | undefined>();
  const request = get(`${addressOf(socket)}/readyz`, { agent: false }, (response) => {
    early.resolve(response.resume().statusCode);
  });
  request.on('error', early.reject);
  request.on('socket', (it) => it.once('connect', () => void proxy.mend()));

  assert.equal(await early.promise, 200);
  assert.equal(await service.stop(), 0);
});

test('sockets for another process are reported as an error', async () => {
  using socket = new BoundSocket({ host: '127.0.0.1' });
  const other = environment({ LISTEN_PID: '1' });
  const { code, stdout, stderr } = await askback(['serve'], other, { sockets: [socket.fd()] });
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, / {2}LISTEN_PID: the sockets are for the process 1 and this is \d+: start /);
});

test('a passed descriptor that is not a socket is refused with a reason', async () => {
  const file = openSync('/dev/null', 'r');
  const { code, stdout, stderr } = await askback(['serve'], environment(), { sockets: [file] });
  closeSync(file);
  assert.deepEqual([code, stdout], [1, '']);
  assert.equal(stderr, 'askback: LISTEN_FDS: the descriptor 3 is not a listening TCP socket\n');
});
