import { once } from 'node:events';
import net from 'node:net';
import { withinMs } from '../async/deadline.ts';
import { listUrls } from './database-url.ts';
import { connect, type Db, isDatabaseAway, one } from './db.ts';
import { refuseEarlyEnd } from './socket.ts';

const lookEveryMs = 1000;
/** A server that does not answer a look for so long is passed over. */
const answerLimitMs = 1500;
const connectLimitMs = 5000;
/** When no server has answered for so long, the connections are broken. */
const cutOffMs = 4000;
const probeIdleSeconds = 5;
const usualPort = 5432;

/** The one of several servers that takes writes. Connections lead to it, and follow when another one does. */
export type Servers = {
  /** The address of the server that takes writes. */
  url: () => Promise<string>;
  /** A socket that is connected to it, for postgres.js. */
  socket: () => Promise<net.Socket>;
  /** A socket that `pg` connects to the address that it was given. */
  stream: () => net.Socket;
  stop: () => Promise<void>;
};

type Server = { url: string; host: string; port: number; probe: Db };

/**
 * Looks every second whether the server that takes writes still does. When another one does, connections to
 * all others are broken: one that is cut off from its clients would otherwise keep them waiting. So they are when no
 * server answers for some seconds.
 */
export function reachServers(address: string): Servers {
  const servers = listUrls(address).map(serverAt);
  const sockets = new Map<net.Socket, Server>();
  let current: Server | undefined;
  let looking: Promise<Server> | undefined;
  let answeredAt = performance.now();

  function look(): Promise<Server> {
    looking ??= findWritable(servers)
      .then(use, (error) => {
        current = undefined;
        throw error;
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  function use(server: Server): Server {
    current = server;
    answeredAt = performance.now();
    for (const [socket, to] of sockets) if (to !== server) socket.destroy(moved());
    return server;
  }

  /** A connection that breaks with an error is a reason to look before the next one is made. */
  function follow(socket: net.Socket, server: Server) {
    sockets.set(socket, server);
    socket.once('error', () => {
      if (current === server) current = undefined;
    });
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }

  async function connectTo(server: Server): Promise<net.Socket> {
    const made = follow(refuseEarlyEnd(net.connect(server.port, server.host)), server);
    const late = () => made.destroy(timedOut(server));
    await withinMs(once(made, 'connect'), connectLimitMs, late).catch((error) => {
      made.destroy();
      throw error;
    });
    // Another server may have been found meanwhile: the driver would wait on a socket that is closed already.
    if (made.destroyed) throw moved();
    return Object.assign(made, { host: server.host, port: server.port });
  }

  /** Also when none did before: statements may wait on a server that is cut off, and ask for no new connection. */
  async function lookAgain() {
    if (current && (await takesWrites(current))) answeredAt = performance.now();
    else await look().catch(breakIfCutOff);
  }

  function breakIfCutOff() {
    if (performance.now() - answeredAt < cutOffMs) return;
    for (const [socket, to] of sockets) socket.destroy(timedOut(to));
  }

  /** The driver takes our listeners off a socket that it wraps for TLS, so not all of them say that they have closed. */
  function dropClosed() {
    for (const socket of sockets.keys()) if (socket.destroyed) sockets.delete(socket);
  }

  const timer = setInterval(() => {
    dropClosed();
    void lookAgain();
  }, lookEveryMs).unref();

  return {
    url: async () => (current ?? (await look())).url,
    async socket() {
      try {
        if (!current) return await connectTo(await look());
        return await connectTo(current).catch(async () => await connectTo(await look()));
      } catch (error) {
        return breaksWith(error as Error);
      }
    },
    stream: () => follow(new net.Socket(), current ?? servers[0]!),
    async stop() {
      clearInterval(timer);
      await looking?.catch(() => {});
      await Promise.all(servers.map(({ probe }) => probe.end({ timeout: 0 })));
    },
  };
}

function serverAt(url: string): Server {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { url, host, port: port ? Number(port) : usualPort, probe: openProbe(url) };
}

const openProbe = (url: string) =>
  connect(url, { connections: 1, idleSeconds: probeIdleSeconds, arrays: false });

/** The first that says so. Without one the error names what each of them said, unless one says no to everybody. */
async function findWritable(servers: readonly Server[]): Promise<Server> {
  const answers = servers.map(async (server) => {
    if (await isWritable(server)) return server;
    throw Object.assign(new Error('takes no writes'), { code: notWritable });
  });
  try {
    return await Promise.any(answers);
  } catch (error) {
    const { errors } = error as AggregateError;
    const no = errors.find((each) => !isDatabaseAway(each));
    if (no) throw no;
    const each = servers.map((server, at) => whyNot(server, errors[at]));
    throw Object.assign(new Error(each.join('; ')), { code: notWritable });
  }
}

function whyNot({ host, port }: Server, { message, code }: NodeJS.ErrnoException): string {
  const place = `${host}:${port}`;
  return `${place} ${(message || code || '').replace(place, '').trim()}`;
}

const takesWrites = (server: Server) => isWritable(server).catch(() => false);

/** A probe that gets no answer may wait on a connection that is cut off: the next one makes its own. */
async function isWritable(server: Server): Promise<boolean> {
  const { probe } = server;
  const answer = probe<{ writable: boolean }[]>`
    select current_setting('transaction_read_only') = 'off' as writable`;
  return await withinMs(
    answer.then((rows) => one(rows).writable),
    answerLimitMs,
    () => {
      server.probe = openProbe(server.url);
      void probe.end({ timeout: 0 });
      throw timedOut(server);
    },
  );
}

/** Among the codes of `isDatabaseAway`. */
export const notWritable = 'NO_WRITABLE_SERVER';

const timedOut = ({ host, port }: Server) =>
  Object.assign(new Error(`${host}:${port} does not answer`), { code: 'ETIMEDOUT' });

const moved = () =>
  Object.assign(new Error('another server takes the writes now'), { code: 'CONNECTION_CLOSED' });

/**
 * postgres.js loses a connection for which no socket is made, so it gets one that breaks. What it writes before waits,
 * because a socket that connects to nothing would refuse it with an error of its own.
 */
function breaksWith(error: Error): net.Socket {
  const broken = new net.Socket();
  broken.cork();
  setImmediate(() => broken.destroy(error));
  return broken;
}
