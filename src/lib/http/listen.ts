import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';
import { answerBrokenRequest } from './body.ts';
import { createDrain } from './http.ts';
import { isLoopbackHost } from './http-address.ts';

type Fetch = Parameters<typeof getRequestListener>[0];

export type ListenAddress = { host: string; port: number } | { descriptors: readonly number[] };

export type Listener = {
  host: string;
  port: number;
  open: (fetch: Fetch) => Promise<void>;
  drain: (limitMs?: number) => Promise<void>;
  close: () => void;
};

/** How many connections may wait to be accepted; the kernel has a limit of its own, often this one. */
const backlog = 4096;

/** What one client can hold, and how many of them. */
export type ListenLimits = { headMs: number; requestMs: number; connections: number };

const usualLimits: ListenLimits = { headMs: 10_000, requestMs: 30_000, connections: 4000 };

/** What a person's browser is shown meanwhile; a program gets nothing from it, and so JSON. */
type ShowStarting = (request: Request) => Response | undefined;

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

type PassedSockets = Readonly<{
  count: number;
  pid: number | null;
  names: readonly string[];
}>;

/** Where the passed descriptors begin, by convention. */
const firstDescriptor = 3;
/** The name of a socket that is for metrics; every other one is for requests. */
const metricsName = 'metrics';

export function sortPassedSockets(
  { count, pid, names }: PassedSockets,
  ownPid: number,
): { requests: number[]; metrics: number[] } | string {
  if (count > 0 && pid !== ownPid) {
    return `LISTEN_PID: the sockets are for the process ${pid} and this is ${ownPid}: start this program itself there, with \`exec\` if a shell starts it`;
  }
  const descriptors = Array.from({ length: count }, (_, place) => firstDescriptor + place);
  const isForMetrics = (_: number, place: number) => names[place] === metricsName;
  return {
    requests: descriptors.filter((it, place) => !isForMetrics(it, place)),
    metrics: descriptors.filter(isForMetrics),
  };
}

type HeldSocket = { socket: Socket; host: string; port: number };

/**
 * A passed socket, known and not yet listened on: connections wait in its queue until somebody takes them,
 * this process or, if it never gets that far, the next one.
 */
function holdSocket(descriptor: number): HeldSocket {
  const socket = open(descriptor);
  const { address: host, port } = socket.address() as { address?: string; port?: number };
  if (host && port && socket.remotePort === undefined) return { socket, host, port };
  socket.destroy();
  throw notListening(descriptor);
}

function open(descriptor: number): Socket {
  try {
    return new Socket({ fd: descriptor, readable: false, writable: false });
  } catch {
    throw notListening(descriptor);
  }
}

const notListening = (descriptor: number) =>
  new Refusal(
    'unavailable',
    `LISTEN_FDS: the descriptor ${descriptor} is no TCP socket to listen on`,
  );

/** Headers that proxies and tunnels add: with one of them the peer of the socket is not the client. */
const proxyHeader = /^(forwarded|via|x-real-ip|x-forwarded.*|x-original-.*|.*-client-ip|cf-.*)$/;

/** A bare `proxy_pass` of older nginx adds no header and asks for 127.0.0.1; no client speaks this version. */
const oldestVersion = '1.0';

/**
 * Whether a client on this machine asks for this machine. The socket's peer alone is not enough: a web page
 * from anywhere can have its reader's browser ask here, under a name of its own that resolves to 127.0.0.1.
 * A proxy that adds nothing still looks local: access that matters asks for a secret as well.
 */
export function isLocalRequest(c: Context): boolean {
  const peer = c.env?.incoming ? getConnInfo(c).remote.address : undefined;
  if (!peer || !isLoopbackHost(peer)) return false;
  if (Object.keys(c.req.header()).some((name) => proxyHeader.test(name))) return false;
  if (c.env.incoming.httpVersion === oldestVersion) return false;
  if (c.req.header('Sec-Fetch-Site') === 'cross-site') return false;
  const origin = c.req.header('Origin');
  if (origin !== undefined && !isLocalUrl(origin)) return false;
  return isLocalUrl(`http://${c.req.header('Host') ?? ''}`);
}

const isLocalUrl = (url: string) => isLoopbackHost(URL.parse(url)?.hostname ?? '');
