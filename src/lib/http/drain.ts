import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a request that is in flight when we are asked to stop may take. */
export const requestsLimitMs = 12_000;
/** A client that is between two requests, or has only just connected, may say one last thing. */
const lastWordMs = 500;
const pollMs = 20;

/**
 * Ends the connections of servers so that no client is cut off in the middle of anything. Nothing new is
 * accepted: what waits in the queue of a socket that others hold too is left to them. Requests in flight finish;
 * the others have a moment for one more, whose answer says that the connection ends with it.
 */
export function createDrain(servers: readonly Server[]) {
  const silent = new Set<Socket>();
  let draining = false;
  for (const server of servers) watch(server);

  return async (limitMs = requestsLimitMs) => {
    draining = true;
    const over = AbortSignal.timeout(limitMs);
    const closed = Promise.all(servers.map((server) => once(server, 'close')));
    for (const server of servers) stopAccepting(server);
    void dropIdle(over);
    await Promise.race([closed, once(over, 'abort')]);
    for (const server of servers) server.closeAllConnections();
  };

  function watch(server: Server) {
    server.on('connection', (socket: Socket) => {
      silent.add(socket);
      socket.once('close', () => silent.delete(socket));
    });
    server.prependListener('request', (request, response) => {
      silent.delete(request.socket);
      if (draining) response.setHeader('Connection', 'close');
    });
  }

  async function dropIdle(over: AbortSignal) {
    const patient = performance.now() + lastWordMs;
    while (!over.aborted && (await connections(servers)) > 0) {
      if (performance.now() > patient) hangUp();
      await sleep(pollMs, undefined, { ref: false });
    }
  }

  function hangUp() {
    for (const server of servers) server.closeIdleConnections();
    for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
  }
}

/** An HTTP server that is closed hangs up at once on a client that is between two requests; this one does not. */
const stopAccepting = (server: Server) => NetServer.prototype.close.call(server);

async function connections(servers: readonly Server[]): Promise<number> {
  const counts = servers.map((server) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    server.getConnections((_error, count) => resolve(count));
    return promise;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
