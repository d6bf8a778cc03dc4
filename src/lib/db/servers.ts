import { once } from 'node:events';
import net from 'node:net';
import { unavailable } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import { connect, type Db, isDatabaseAway, listUrls, one } from './db.ts';

const pollMs = 1000;
const connectLimitMs = 5000;
const answerLimitMs = 1500;
/** All connections are closed after this long without a writable server. */
const cutOffMs = 4000;
const probeIdleSeconds = 5;
const defaultPort = 5432;

export type Servers = ReturnType<typeof reachServers>;

export const notWritable = 'NO_WRITABLE_SERVER';

/**
 * Polls every second which server takes writes. After a failover, it closes the connections to the old server: behind
 * a network partition they would hang. Without any writable server, it closes all of them after some seconds.
 */
export function reachServers(address: string) {
  const servers = listUrls(address).map(serverAt);
  const sockets = new Map<net.Socket, Server>();
  let current: Server | undefined;
  /** The cluster of the first server that was used. Servers of other clusters are rejected from then on. */
  let system: string | undefined;
  let writableAt = performance.now();
  let polling: Promise<Server> | undefined;

  function poll(): Promise<Server> {
    polling ??= findWritable(servers, { current, system })
      .then(useServer, loseServer)
      .finally(() => {
        polling = undefined;
      });
    return polling;
  }

  function useServer(writable: WritableServer): Server {
    current = writable.server;
    system = writable.system;
    writableAt = performance.now();
    closeSockets(moved, (server) => server !== current);
    return current;
  }

  function loseServer(error: unknown): never {
    current = undefined;
    if (performance.now() - writableAt >= cutOffMs) closeSockets(timedOut, () => true);
    throw error;
  }

  function closeSockets(reason: (server: Server) => Error, isStale: (server: Server) => boolean) {
    for (const [socket, server] of sockets) {
      if (isStale(server)) socket.destroy(reason(server));
      // The driver removes our listeners from a socket that it wraps for TLS.
      if (socket.destroyed) sockets.delete(socket);
    }
  }

  function track(socket: net.Socket, server: Server) {
    sockets.set(socket, server);
    socket.on('error', () => {}); // the driver handles it
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }

  async function connectTo(server: Server): Promise<net.Socket> {
    const socket = track(net.connect(server.port, server.host), server);
    const late = () => socket.destroy(timedOut(server));
    await withinMs(once(socket, 'connect'), connectLimitMs, late).catch((error) => {
      socket.destroy();
      throw error;
    });
    // A failover may have closed the socket meanwhile. The driver would wait for it forever.
    if (socket.destroyed) throw moved();
    return Object.assign(socket, { host: server.host, port: server.port });
  }

  const timer = setInterval(() => void poll().catch(() => {}), pollMs).unref();

  return {
    url: async () => (await poll()).url,
    /** For postgres.js. */
    socket: async () => await connectTo(await poll()),
    /** For `pg`, which connects the socket itself. */
    stream: () => track(new net.Socket(), current ?? servers[0]!),
    async stop() {
      clearInterval(timer);
      await polling?.catch(() => {});
      await Promise.all(servers.map(({ probe }) => probe.end({ timeout: 0 })));
    },
  };
}

type Server = { url: string; host: string; port: number; probe: Db };

function serverAt(url: string): Server {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { url, host, port: port ? Number(port) : defaultPort, probe: openProbe(url) };
}

const openProbe = (url: string) =>
  connect(url, { connections: 1, idleSeconds: probeIdleSeconds, arrays: false });

type Previous = { current: Server | undefined; system: string | undefined };

/**
 * Prefers the current server while it takes writes, then the first writable server of its cluster. At the start, hosts
 * of different clusters are rejected, because each would acknowledge writes that the other never gets.
 */
async function findWritable(servers: readonly Server[], { current, system }: Previous) {
  const own = current && (await probeServer(current, system));
  if (own && isWritable(own)) return own;
  const results = await Promise.all(
    servers.map((server) => (server === current ? own! : probeServer(server, system))),
  );
  if (system === undefined) rejectClusters(results);
  const writable = results.find(isWritable);
  if (writable) return writable;
  const refused = results.find(({ error }) => error && !isDatabaseAway(error));
  if (refused) throw refused.error;
  throw outage(results.map(({ server, error }) => reasonOf(server, error!)).join('; '));
}

type WritableServer = { server: Server; system: string };
type ProbeResult = { server: Server; system?: string; error?: Error };

const isWritable = (result: ProbeResult): result is WritableServer => result.error === undefined;

async function probeServer(server: Server, cluster: string | undefined): Promise<ProbeResult> {
  try {
    const { writable, system } = await withinMs(stateOf(server), answerLimitMs, () => {
      // The connection may be dead, so the next probe opens another one.
      void server.probe.end({ timeout: 0 });
      server.probe = openProbe(server.url);
      throw timedOut(server);
    });
    if (cluster !== undefined && system !== cluster) {
      return {
        server,
        system,
        error: outage('belongs to a different cluster from the last server'),
      };
    }
    return writable ? { server, system } : { server, system, error: outage('takes no writes') };
  } catch (error) {
    return { server, error: error as Error };
  }
}

async function stateOf({ probe }: Server) {
  return one(
    await probe<{ writable: boolean; system: string }[]>`
      select current_setting('transaction_read_only') = 'off' as writable,
             system_identifier::text as system
      from pg_control_system()`,
  );
}

function rejectClusters(results: readonly ProbeResult[]) {
  const clusters = new Map(
    results.flatMap(({ server, system }) => (system ? [[system, server]] : [])),
  );
  if (clusters.size < 2) return;
  const places = [...clusters].map(([system, server]) => `${placeOf(server)} (system ${system})`);
  throw unavailable(
    `its hosts belong to different clusters, ${places.join(' and ')}: name the primary and the standbys of one`,
  );
}

const placeOf = ({ host, port }: Server) => `${host}:${port}`;

function reasonOf(server: Server, { message, code }: NodeJS.ErrnoException): string {
  const place = placeOf(server);
  return `${place} ${(message || code || '').replace(place, '').trim()}`;
}

const outage = (reason: string) => Object.assign(new Error(reason), { code: notWritable });

const timedOut = (server: Server) =>
  Object.assign(new Error(`${placeOf(server)} does not answer`), { code: 'ETIMEDOUT' });

const moved = () =>
  Object.assign(new Error('another server takes writes now'), { code: 'CONNECTION_CLOSED' });
