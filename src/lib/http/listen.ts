import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { answerBrokenRequest } from './broken-request.ts';
import { createDrain } from './drain.ts';
import { type HeldSocket, holdSocket } from './passed-sockets.ts';

type Fetch = Parameters<typeof getRequestListener>[0];

/** An address of our own, or sockets that were opened for us. */
export type ListenAddress = { host: string; port: number } | { descriptors: readonly number[] };

export type Listener = {
  host: string;
  port: number;
  /** From now on requests reach the application. */
  open: (fetch: Fetch) => Promise<void>;
  /** Takes no more connections and lets the requests in flight finish, for so long. */
  drain: (limitMs?: number) => Promise<void>;
  close: () => void;
};

/** How many connections may wait to be accepted; the kernel has a limit of its own, often this one. */
const backlog = 4096;

/** What one client can hold, and how many of them. */
export type ListenLimits = { headMs: number; requestMs: number; connections: number };

const usualLimits: ListenLimits = { headMs: 10_000, requestMs: 30_000, connections: 4000 };

/** What a person's browser is shown meanwhile; a program gets nothing from it, and so JSON. */
export type ShowStarting = (request: Request) => Response | undefined;

type ListenOptions = { limits?: ListenLimits; showStarting?: ShowStarting };

export const listen = (
  where: ListenAddress,
  { limits = usualLimits, showStarting = () => undefined }: ListenOptions = {},
): Promise<Listener> =>
  'descriptors' in where
    ? takeOver(where.descriptors, limits)
    : takePort(where, limits, showStarting);

function serverFor(answer: RequestListener, { headMs, requestMs, connections }: ListenLimits) {
  const options: ServerOptions = {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(headMs, 1000),
  };
  const server = createServer(options, answer);
  server.maxConnections = connections;
  server.on('clientError', answerBrokenRequest);
  return server;
}

/**
 * Takes the port at once, before anything slow: one that is in use is known first, and a supervisor
 * that asks meanwhile learns that we are alive and not ready.
 */
async function takePort(
  { host, port }: { host: string; port: number },
  limits: ListenLimits,
  showStarting: ShowStarting,
): Promise<Listener> {
  let answer = getRequestListener((request) => showStarting(request) ?? starting(request));
  const server = serverFor((request, response) => void answer(request, response), limits);
  const drain = createDrain([server]);
  server.listen({ port, host, backlog });
  await once(server, 'listening');

  return {
    host,
    port: (server.address() as AddressInfo).port,
    async open(fetch) {
      answer = getRequestListener(fetch);
    },
    drain,
    close: () => shut(server),
  };
}

/**
 * Leaves the sockets alone until requests can be answered. A client that connects before that waits, as between
 * the end of one process and the start of the next, and no client is refused.
 */
async function takeOver(descriptors: readonly number[], limits: ListenLimits): Promise<Listener> {
  let answer: RequestListener;
  const held = descriptors.map(holdSocket);
  const servers = held.map(() =>
    serverFor((request, response) => answer(request, response), limits),
  );
  const { host, port } = held[0]!;

  return {
    host,
    port,
    async open(fetch) {
      answer = getRequestListener(fetch);
      await Promise.all(servers.map((server, place) => listenOn(server, held[place]!)));
    },
    drain: createDrain(servers),
    close: () => {
      for (const server of servers) shut(server);
    },
  };
}

async function listenOn(server: Server, { socket }: HeldSocket) {
  server.listen(socket, backlog);
  await once(server, 'listening');
}

function shut(server: Server) {
  server.close();
  server.closeAllConnections();
}

function starting(request: Request): Response {
  const { pathname } = new URL(request.url);
  const headers = { 'Cache-Control': 'no-store' };
  if (pathname === '/healthz') return Response.json({ status: 'ok' }, { headers });
  const refusal = { error: 'the service is starting, try again shortly', code: 'starting' };
  const failing = { starting: 'is not done' };
  const body =
    pathname === '/readyz' ? { status: 'not ready', ...refusal, failing, red: failing } : refusal;
  return Response.json(body, { status: 503, headers: { ...headers, 'Retry-After': '1' } });
}
