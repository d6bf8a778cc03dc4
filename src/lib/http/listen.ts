import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';
import { answerBrokenRequest } from './body.ts';
import { limitConnections } from './connection-limits.ts';
import { createDrain } from './http.ts';
import { isLoopbackHost } from './http-address.ts';

type Fetch = Parameters<typeof getRequestListener>[0];

export type ListenAddress = { host: string; port: number } | { descriptors: readonly number[] };

export type Listener = Awaited<ReturnType<typeof listen>>;

/** Connections that may wait to be accepted; the kernel has a limit of its own, often this one. */
const backlog = 4096;

const usualLimits = { headMs: 10_000, requestMs: 30_000, connections: 4000, perClient: 256 };

type ListenOptions = {
  limits?: typeof usualLimits;
  /** CIDR ranges; each of their addresses connects for many clients. */
  trustedProxies?: readonly string[];
  /** The page for a browser while the service starts; programs get JSON. */
  showStarting?: (request: Request) => Response | undefined;
};

/**
 * Takes a port at once, before anything slow: a port in use is reported first, and a supervisor learns that the process
 * is alive and not ready. Passed sockets are listened on with `open`: until then clients wait in their queue.
 */
export async function listen(
  where: ListenAddress,
  { limits = usualLimits, trustedProxies = [], showStarting = () => undefined }: ListenOptions = {},
) {
  let answer = getRequestListener((request) => showStarting(request) ?? starting(request));
  const options: ServerOptions = {
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(limits.headMs, 1000),
  };
  const passed = 'descriptors' in where ? where.descriptors.map(holdSocket) : [];
  const servers = Array.from({ length: passed.length || 1 }, () => {
    const server = createServer(options, (request, response) => void answer(request, response));
    server.on('clientError', answerBrokenRequest);
    return server;
  });
  limitConnections(servers, limits, trustedProxies);
  const drain = createDrain(servers);
  if ('port' in where) await listenOn(servers[0]!, { port: where.port, host: where.host });
  const { host, port } =
    'host' in where
      ? { host: where.host, port: (servers[0]!.address() as AddressInfo).port }
      : passed[0]!;
  return {
    host,
    port,
    async open(fetch: Fetch) {
      answer = getRequestListener(fetch);
      await Promise.all(passed.map(({ socket }, at) => listenOn(servers[at]!, socket)));
    },
    drain,
    close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

async function listenOn(server: Server, where: Socket | { host: string; port: number }) {
  if (where instanceof Socket) server.listen(where, backlog);
  else server.listen({ ...where, backlog });
  await once(server, 'listening');
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

type PassedSockets = Readonly<{ count: number; pid: number | null; names: readonly string[] }>;

/** The number of the first passed descriptor, by convention. */
const firstDescriptor = 3;

/** The sockets named `metrics` are for metrics, every other one is for requests. */
export function sortPassedSockets(
  { count, pid, names }: PassedSockets,
  ownPid: number,
): { requests: number[]; metrics: number[] } | string {
  if (count > 0 && pid !== ownPid) {
    return `LISTEN_PID: the sockets are for the process ${pid} and this is ${ownPid}: start this program itself there, with \`exec\` if a shell starts it`;
  }
  const descriptors = Array.from({ length: count }, (_, place) => firstDescriptor + place);
  const isForMetrics = (_: number, place: number) => names[place] === 'metrics';
  return {
    requests: descriptors.filter((it, place) => !isForMetrics(it, place)),
    metrics: descriptors.filter(isForMetrics),
  };
}

/** A passed socket that is not listened on yet: connections wait in its queue for this process or the next. */
function holdSocket(descriptor: number): { socket: Socket; host: string; port: number } {
  const refusal = new Refusal(
    'unavailable',
    `LISTEN_FDS: the descriptor ${descriptor} is no TCP socket to listen on`,
  );
  let socket: Socket;
  try {
    socket = new Socket({ fd: descriptor, readable: false, writable: false });
  } catch {
    throw refusal;
  }
  const { address: host, port } = socket.address() as { address?: string; port?: number };
  if (host && port && socket.remotePort === undefined) return { socket, host, port };
  socket.destroy();
  throw refusal;
}

/** Headers that proxies and tunnels add: with one of them the peer of the socket is not the client. */
const proxyHeader = /^(forwarded|via|x-real-ip|x-forwarded.*|x-original-.*|.*-client-ip|cf-.*)$/;

/** A bare `proxy_pass` of older nginx adds no header and asks for 127.0.0.1; no client speaks this version. */
const oldestVersion = '1.0';

/**
 * True when a client on this machine asks for this machine. The peer alone is not enough: a web page from anywhere can
 * have its reader's browser ask here, under a name that resolves to 127.0.0.1. A proxy that adds no header still looks
 * local, so access that matters needs a secret as well.
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
