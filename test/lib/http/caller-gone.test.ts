import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Context } from 'hono';
import { watchCaller } from '../../../src/lib/http/http.ts';

const contextOf = (socket: Socket) => ({ env: { incoming: { socket } } }) as unknown as Context;

test('a caller has gone when its connection is closed', async () => {
  const socket = new Socket();
  const isGone = watchCaller(contextOf(socket));
  assert.equal(isGone(), false);
  socket.destroy();
  await once(socket, 'close');
  assert.equal(isGone(), true);
});

test('a request that came over no connection has no caller that could go', () => {
  assert.equal(watchCaller({ env: undefined } as unknown as Context)(), false);
});

test('what asks for the caller does not keep the request', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { isGone, request } = watchOne();
  await nextTurn();
  collect();
  assert.equal(request.deref(), undefined);
  assert.equal(isGone(), false);
});

function watchOne() {
  const c = contextOf(new Socket());
  return { isGone: watchCaller(c), request: new WeakRef(c) };
}
