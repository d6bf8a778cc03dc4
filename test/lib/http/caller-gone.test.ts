import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import type { Context } from 'hono';
import { watchCaller } from '../../../src/lib/http/http.ts';

const contextOf = (socket: Socket) => ({ env: { incoming: { socket } } }) as unknown as Context;

test('a caller is gone when its connection is closed', async () => {
  const socket = new Socket();
  const isGone = watchCaller(contextOf(socket));
  assert.equal(isGone(), false);
  socket.destroy();
  await once(socket, 'close');
  assert.equal(isGone(), true);
});
