import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { listen } from '../../../src/lib/http/listen.ts';

async function openListener(
  answer: () => Response | Promise<Response> = () => new Response('hello'),
) {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  await listener.open(answer);
  return listener;
}

async function connected(port: number) {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  return socket;
}

const ask = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('an idle connection gets one last answer with Connection: close', async () => {
  const listener = await openListener();
  const client = await connected(listener.port);
  client.write(ask);
  assert.match(String((await once(client, 'data'))[0]), /Connection: keep-alive/);

  const drained = listener.drain();
  client.write(ask);

  assert.match(await text(client), /^HTTP\/1.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/i);
  await drained;
});

test('a request in flight finishes within the time limit', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  const listener = await openListener(() => {
    asked.resolve();
    return answer.promise;
  });
  const client = await connected(listener.port);
  client.write(ask);
  await asked.promise;

  const drained = listener.drain();
  setTimeout(() => answer.resolve(new Response('at last')), 1000); // beyond all other time limits
  assert.match(await text(client), /at last$/);
  await drained;
});

test('a request beyond the time limit is cut off', async () => {
  const asked = Promise.withResolvers<void>();
  const never = Promise.withResolvers<Response>();
  const listener = await openListener(() => {
    asked.resolve();
    return never.promise;
  });
  const client = await connected(listener.port);
  client.write(ask);
  await asked.promise;

  await listener.drain(100);

  assert.equal(await text(client), '');
});
