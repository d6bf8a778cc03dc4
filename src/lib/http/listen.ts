import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { errorCodes, Refusal } from '../../errors.ts';
import { answerBrokenRequest } from './body.ts';
import { limitConnections } from './connection-limits.ts';
import { createDrain } from './http.ts';
import { isLoopbackHost } from './http-address.ts';

type Fetch = Parameters<typeof getRequestListener>[0];

export type ListenAddress = { host: string; port: number } | { descriptors: readonly number[] };

export type Listener = Awaited<ReturnType<typeof listen>>;

/** The kernel has its own limit, often the same. */
const backlog = 4096;

const usualLimits = {
  headMs: 10_000,
  requestMs: 30_000,
  uploadMs: 600_000,
  connections: 4000,
  perClient: 256,
};

type ListenOptions = {
  limits?: typeof usualLimits;
  /** Paths that take large files, which may arrive slowly. */
  uploads?: RegExp;
  /** CIDR ranges whose connections are not limited per client. */
  trustedProxies?: readonly string[];
  /** The page for browsers while the service starts. Other clients get JSON. */
  showStarting?: (request: Request) => Response | undefined;
};

/**
 * Listens before anything slow starts, so that a port in use is reported first and health checks see a live process
 * that is not ready. `open` starts to listen on sockets that systemd passed. Until then, clients wait in the backlog.
 */
export async function listen(
  where: ListenAddress,
  {
    limits = usualLimits,
    uploads = /^$/,
    trustedProxies = [],
    showStarting = () => undefined,
  }: ListenOptions = {},
) {
  let answer = getRequestListener((request) => showStarting(request) ?? starting(request));
  const options: ServerOptions = {
    headersTimeout: limits.headMs,
    requestTimeout: limits.uploadMs,
    connectionsCheckingInterval: Math.min(limits.headMs, 1000),
  };
  const passed = 'descriptors' in where ? where.descriptors.map(holdSocket) : [];
  const servers = Array.from({ length: passed.length || 1 }, () => {
    const server = createServer(options, (request, response) => {
      if (!uploads.test(request.url ?? '')) limitTime(request, limits.requestMs);
      void answer(request, response);
    });
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

/**
 * Limits a request that is not an upload. Node has a single time limit for all requests, so that limit is set for
 * uploads.
 */
function limitTime(request: IncomingMessage, ms: number) {
  const timer = setTimeout(() => {
    if (request.complete) return;
    const error = Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    answerBrokenRequest(error, request.socket);
  }, ms);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
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
  const refusal = { error: errorCodes.starting.error, code: 'starting' };
  const failing = { starting: 'is not done' };
  const body =
    pathname === '/readyz' ? { status: 'not ready', ...refusal, failing, red: failing } : refusal;
  return Response.json(body, { status: 503, headers: { ...headers, 'Retry-After': '1' } });
}

/** Opens a passed socket without listening: connections wait in its backlog. */
function holdSocket(descriptor: number): { socket: Socket; host: string; port: number } {
  const refusal = new Refusal(
    'unavailable',
    `LISTEN_FDS: the descriptor ${descriptor} is not a listening TCP socket`,
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

/** Headers of proxies and tunnels. With one of them, the peer is not the client. */
const proxyHeader = /^(forwarded|via|x-real-ip|x-forwarded.*|x-original-.*|.*-client-ip|cf-.*)$/;

/** A plain `proxy_pass` of older nginx adds no header but uses HTTP 1.0, which no current client does. */
const oldProxyVersion = '1.0';

/**
 * True for a request from this machine to this machine. The peer alone is not enough because of DNS rebinding: any web
 * page can use a name that resolves to 127.0.0.1. A proxy without headers still looks local, so important access also
 * needs a secret.
 */
export function isLocalRequest(c: Context): boolean {
  const peer = c.env?.incoming ? getConnInfo(c).remote.address : undefined;
  if (!peer || !isLoopbackHost(peer)) return false;
  if (Object.keys(c.req.header()).some((name) => proxyHeader.test(name))) return false;
  if (c.env.incoming.httpVersion === oldProxyVersion) return false;
  if (c.req.header('Sec-Fetch-Site') === 'cross-site') return false;
  const origin = c.req.header('Origin');
  if (origin !== undefined && !isLocalUrl(origin)) return false;
  return isLocalUrl(`http://${c.req.header('Host') ?? ''}`);
}

const isLocalUrl = (url: string) => isLoopbackHost(URL.parse(url)?.hostname ?? '');
