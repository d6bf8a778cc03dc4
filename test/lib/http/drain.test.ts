import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { listen } from '../../../src/lib/http/listen.ts';

async function openDoor(answer: () => Response | Promise<Response> = () => new Response('hello')) {
  const door = await listen({ host: '127.0.0.1', port: 0 });
  await door.open(answer);
  return door;
}

async function connected(port: number) {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  return socket;
}

const ask = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('a client that is between two requests has one more answered, and is told that it was the last', async () => {
  const door = await openDoor();
  const client = await connected(door.port);
  client.write(ask);
  assert.match(String((await once(client, 'data'))[0]), /Connection: keep-alive/);

  const drained = door.drain();
  client.write(ask);

  assert.match(await text(client), /^HTTP\/1.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/i);
  await drained;
});

test('a client that had just connected has its request answered', async () => {
  const door = await openDoor();
  const client = await connected(door.port);
  const later = await connected(door.port);
  later.write(ask);
  await once(later, 'data'); // connections are accepted in their order
  later.destroy();

  const drained = door.drain();
  client.write(ask);

  assert.match(await text(client), /^HTTP\/1.1 200 OK/);
  await drained;
});

test('a request in hand finishes, however long after', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  const door = await openDoor(() => {
    asked.resolve();
    return answer.promise;
  });
  const client = await connected(door.port);
  client.write(ask);
  await asked.promise;

  const drained = door.drain();
  setTimeout(() => answer.resolve(new Response('at last')), 1000); // past all other patience
  assert.match(await text(client), /at last$/);
  await drained;
});

test('clients that say nothing hold nobody up', async () => {
  const door = await openDoor();
  const quiet = [await connected(door.port), await connected(door.port)];
  quiet[1]!.write(ask);
  await once(quiet[1]!, 'data');
  const begun = performance.now();
  await door.drain();
  assert.ok(performance.now() - begun < 3000);
  for (const client of quiet) client.destroy();
});

test('a request that takes longer than there is time for is cut off', async () => {
  const asked = Promise.withResolvers<void>();
  const never = Promise.withResolvers<Response>();
  const door = await openDoor(() => {
    asked.resolve();
    return never.promise;
  });
  const client = await connected(door.port);
  client.write(ask);
  await asked.promise;

  await door.drain(100);

  assert.equal(await text(client), '');
});
