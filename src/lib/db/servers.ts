import { once } from 'node:events';
import net from 'node:net';
import { withinMs } from '../async/deadline.ts';
import { listUrls } from './database-url.ts';
import { refuseEarlyEnd } from './socket.ts';
import { createChoice, type NamedServer, serverAt, timedOut } from './writable-server.ts';

const lookEveryMs = 1000;
const connectLimitMs = 5000;
/** When no server has answered for so long, the connections are broken. */
const cutOffMs = 4000;

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

/**
 * Looks every second whether the server that takes writes still does. When another one does, connections to
 * all others are broken: one that is cut off from its clients would otherwise keep them waiting. So they are when no
 * server answers for some seconds. Once one is found, a server of another cluster is never used.
 */
export function reachServers(address: string): Servers {
  const servers = listUrls(address).map(serverAt);
  const sockets = new Map<net.Socket, NamedServer>();
  const choice = createChoice(servers, breakOthers);
  let answeredAt = performance.now();

  function breakOthers(server: NamedServer) {
    answeredAt = performance.now();
    for (const [socket, to] of sockets) if (to !== server) socket.destroy(moved());
  }

  /** A connection that has ended is a reason to look before the next one is made. */
  function follow(socket: net.Socket, server: NamedServer) {
    sockets.set(socket, server);
    socket.once('error', () => choice.drop(server));
    socket.once('close', () => {
      choice.doubt();
      sockets.delete(socket);
    });
    return socket;
  }

  async function connectTo(server: NamedServer): Promise<net.Socket> {
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
    if (await choice.confirm()) answeredAt = performance.now();
    else await choice.look().catch(breakIfCutOff);
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
    url: async () => (await choice.certain()).url,
    async socket() {
      try {
        const server = await choice.certain();
        return await connectTo(server).catch(async () => await connectTo(await choice.look()));
      } catch (error) {
        return breaksWith(error as Error);
      }
    },
    stream: () => follow(new net.Socket(), choice.current() ?? servers[0]!),
    async stop() {
      clearInterval(timer);
      await choice.idle();
      await Promise.all(servers.map(({ probe }) => probe.end({ timeout: 0 })));
    },
  };
}

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
