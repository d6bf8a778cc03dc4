import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';

type Fetch = Parameters<typeof getRequestListener>[0];

export type Door = {
  port: number;
  /** From now on requests reach the application. */
  open: (fetch: Fetch) => void;
  /** Takes no more connections and lets the requests in hand finish. */
  drain: () => Promise<void>;
  close: () => void;
};

const drainLimitMs = 12_000;
const idlePollMs = 20;

/**
 * Takes the port at once, before anything slow: one that is in use is known first, and a supervisor
 * that asks meanwhile hears that we are alive and not ready.
 */
export async function listen({ host, port }: { host: string; port: number }): Promise<Door> {
  let answer = getRequestListener(starting);
  const server = createServer((request, response) => void answer(request, response));
  server.listen(port, host);
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    open: (fetch) => {
      answer = getRequestListener(fetch);
    },
    drain: async () => {
      const over = AbortSignal.timeout(drainLimitMs);
      const closed = once(server, 'close');
      server.close();
      void dropIdle(over);
      await Promise.race([closed, once(over, 'abort')]);
      server.closeAllConnections();
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };

  /** A connection whose request just ended would be kept open for the next one. */
  async function dropIdle(over: AbortSignal) {
    while (!over.aborted && (await connections()) > 0) {
      server.closeIdleConnections();
      await sleep(idlePollMs, undefined, { ref: false });
    }
  }

  function connections(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    server.getConnections((_error, count) => resolve(count));
    return promise;
  }
}

function starting(request: Request): Response {
  if (new URL(request.url).pathname === '/healthz') return Response.json({ status: 'ok' });
  const body = { error: 'askback is starting, try again shortly', code: 'starting' };
  return Response.json(body, { status: 503, headers: { 'Retry-After': '1' } });
}
