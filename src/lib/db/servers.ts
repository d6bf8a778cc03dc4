import { once } from 'node:events';
import net from 'node:net';
import { Refusal } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import { connect, type Db, isDatabaseAway, listUrls, one } from './db.ts';

const lookEveryMs = 1000;
const connectLimitMs = 5000;
/** A server that does not answer a look for so long is passed over. */
const answerLimitMs = 1500;
/** When no server has taken writes for so long, the connections are broken. */
const cutOffMs = 4000;
const probeIdleSeconds = 5;
const usualPort = 5432;

export type Servers = ReturnType<typeof reachServers>;

export const notWritable = 'NO_WRITABLE_SERVER';

/**
 * A watchdog looks every second which server takes writes. When another one does, it breaks the connections to the one
 * before: a server that is cut off from its clients would otherwise keep them waiting. It breaks all of them when no
 * server takes writes for some seconds.
 */
export function reachServers(address: string) {
  const servers = listUrls(address).map(serverAt);
  const sockets = new Map<net.Socket, Server>();
  let current: Server | undefined;
  /** The cluster of the first server that was used. No other cluster is used after it. */
  let system: string | undefined;
  let writableAt = performance.now();
  let looking: Promise<Server> | undefined;

  function look(): Promise<Server> {
    looking ??= findWritable(servers, { current, system })
      .then(use, lose)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  function use(found: { server: Server; system: string }): Server {
    current = found.server;
    system = found.system;
    writableAt = performance.now();
    breakAll(moved, (server) => server !== current);
    return current;
  }

  function lose(error: unknown): never {
    current = undefined;
    if (performance.now() - writableAt >= cutOffMs) breakAll(timedOut, () => true);
    throw error;
  }

  function breakAll(reason: (server: Server) => Error, isBroken: (server: Server) => boolean) {
    for (const [socket, server] of sockets) {
      if (isBroken(server)) socket.destroy(reason(server));
      // The driver takes our listeners off a socket that it wraps for TLS.
      if (socket.destroyed) sockets.delete(socket);
    }
  }

  function follow(socket: net.Socket, server: Server) {
    sockets.set(socket, server);
    socket.on('error', () => {}); // told to the driver, which has a listener of its own
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }

  async function connectTo(server: Server): Promise<net.Socket> {
    const made = follow(net.connect(server.port, server.host), server);
    const late = () => made.destroy(timedOut(server));
    await withinMs(once(made, 'connect'), connectLimitMs, late).catch((error) => {
      made.destroy();
      throw error;
    });
    // Another server may have been found meanwhile: the driver would wait on a socket that is closed already.
    if (made.destroyed) throw moved();
    return Object.assign(made, { host: server.host, port: server.port });
  }

  const timer = setInterval(() => void look().catch(() => {}), lookEveryMs).unref();

  return {
    url: async () => (await look()).url,
    /** For postgres.js. */
    socket: async () => await connectTo(await look()),
    /** For `pg`, which connects it to the address that it was given. */
    stream: () => follow(new net.Socket(), current ?? servers[0]!),
    async stop() {
      clearInterval(timer);
      await looking?.catch(() => {});
      await Promise.all(servers.map(({ probe }) => probe.end({ timeout: 0 })));
    },
  };
}

type Server = { url: string; host: string; port: number; probe: Db };

function serverAt(url: string): Server {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { url, host, port: port ? Number(port) : usualPort, probe: openProbe(url) };
}

const openProbe = (url: string) =>
  connect(url, { connections: 1, idleSeconds: probeIdleSeconds, arrays: false });

type Before = { current: Server | undefined; system: string | undefined };

/**
 * The current server while it takes writes, or else the first one of its cluster that does. Before one is known, hosts of
 * different clusters are refused: what one of them acknowledges the other would never have. Without one the error names
 * the reason of each server, unless one refuses everybody.
 */
async function findWritable(servers: readonly Server[], { current, system }: Before) {
  const own = current && (await judge(current, system));
  if (own && takesWrites(own)) return own;
  const states = await Promise.all(
    servers.map((server) => (server === current ? own! : judge(server, system))),
  );
  if (system === undefined) refuseClusters(states);
  const writable = states.find(takesWrites);
  if (writable) return writable;
  const refused = states.find(({ error }) => error && !isDatabaseAway(error));
  if (refused) throw refused.error;
  throw outage(states.map(({ server, error }) => reasonOf(server, error!)).join('; '));
}

/** A server that takes no writes, or none for us, has an error. */
type Judged = { server: Server; system?: string; error?: Error };

const takesWrites = (state: Judged): state is { server: Server; system: string } =>
  state.error === undefined;

async function judge(server: Server, cluster: string | undefined): Promise<Judged> {
  try {
    const { writable, system } = await withinMs(stateOf(server), answerLimitMs, () => {
      // The connection may be cut off: the next probe makes one of its own.
      void server.probe.end({ timeout: 0 });
      server.probe = openProbe(server.url);
      throw timedOut(server);
    });
    if (cluster !== undefined && system !== cluster) {
      return { server, system, error: outage('is of another cluster than the server before it') };
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

function refuseClusters(states: readonly Judged[]) {
  const clusters = new Map(
    states.flatMap(({ server, system }) => (system ? [[system, server]] : [])),
  );
  if (clusters.size < 2) return;
  const places = [...clusters].map(([system, server]) => `${placeOf(server)} (system ${system})`);
  throw new Refusal(
    'unavailable',
    `its hosts are of different clusters, ${places.join(' and ')}: name the primary and the standbys of one`,
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
  Object.assign(new Error('another server takes the writes now'), { code: 'CONNECTION_CLOSED' });
