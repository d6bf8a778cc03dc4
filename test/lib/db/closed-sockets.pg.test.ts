import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { reachServers, type Servers } from '../../../src/lib/db/servers.ts';
import { until } from '../../support/probe/until.ts';
import { startCluster } from '../../support/processes/cluster.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A socket that has closed; nothing here refers to it any more. */
async function closedSocket(route: Servers, change: 'as it is' | 'without its listeners') {
  const socket = await route.socket();
  // The driver does so when it wraps a socket for TLS.
  if (change === 'without its listeners') socket.removeAllListeners();
  socket.destroy();
  await once(socket, 'close');
  assert.ok(socket.destroyed);
  return new WeakRef(socket);
}

for (const change of ['as it is', 'without its listeners'] as const) {
  test(`a socket that has closed ${change} is not kept`, async (t) => {
    const { primary } = await startCluster(t);
    const route = reachServers(`postgres://postgres@127.0.0.1:${primary.port}/postgres`);
    t.after(() => route.stop());
    const closed = await closedSocket(route, change);
    await until('the socket is gone', () => {
      collectGarbage();
      return closed.deref() === undefined;
    });
  });
}
