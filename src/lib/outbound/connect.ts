import { isIP, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls, type TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { deadline } from '../async/deadline.ts';
import { type AllowList, isForbidden } from './addresses.ts';
import { connectFailure, OutboundFailure, tlsFailure } from './failures.ts';
import { metered } from './meter.ts';
import type { Resolve } from './resolve.ts';
import { forbiddenTarget, meansThisMachine } from './targets.ts';

export type Guard = { allow: AllowList; resolve: Resolve };

const connectTimeoutMs = 5_000;

/** The only way out: no connection is handed over whose address was not judged before and after dialling. */
export const guardedConnector =
  (guard: Guard): buildConnector.connector =>
  (target, callback) => {
    dial(guard, target).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };

/**
 * The addresses that a host may be dialled at. One forbidden address among several condemns them
 * all: a name that leads both outside and inside has no honest reason.
 */
export async function judgedAddresses({ allow, resolve }: Guard, host: string): Promise<string[]> {
  const addresses = isIP(host) !== 0 ? [host] : await addressesOf(host, resolve);
  if (addresses.length === 0 || addresses.some((address) => isForbidden(address, allow))) {
    throw new OutboundFailure('forbidden', forbiddenTarget);
  }
  return addresses;
}

const addressesOf = async (host: string, resolve: Resolve) =>
  meansThisMachine(host) ? ['127.0.0.1'] : await resolve(host);

async function dial(guard: Guard, target: buildConnector.Options): Promise<Socket> {
  const host = target.hostname.replace(/\.$/, '');
  // Looking up, dialling and TLS share one time limit.
  const { passed, clear } = deadline(connectTimeoutMs);
  const late = passed.then(() => {
    throw new OutboundFailure('timeout', `no connection within ${connectTimeoutMs / 1000} s`);
  });
  try {
    const addresses = await Promise.race([judgedAddresses(guard, host), late]);
    const socket = open(target, host, addresses);
    await connected(socket, target.protocol, late);
    return metered(checkPeer(socket, guard.allow));
  } finally {
    clear();
  }
}

function checkPeer(socket: Socket, allow: AllowList): Socket {
  if (socket.remoteAddress !== undefined && !isForbidden(socket.remoteAddress, allow))
    return socket;
  socket.destroy();
  throw new OutboundFailure('forbidden', forbiddenTarget);
}

function open(target: buildConnector.Options, host: string, addresses: string[]): Socket {
  const https = target.protocol === 'https:';
  const options = {
    host,
    port: Number(target.port || (https ? 443 : 80)),
    lookup: answerWith(addresses),
    autoSelectFamily: true,
    noDelay: true,
  };
  if (!https) return openTcp(options);
  // Certificates are judged by the name that was asked for, not by the address it led to.
  const servername = isIP(host) !== 0 ? '' : host;
  return openTls({ ...options, servername, ALPNProtocols: ['http/1.1'] });
}

/**
 * A lookup that knows only what was judged: the name is not asked for a second time. With `autoSelectFamily` it is
 * always asked for all addresses.
 */
function answerWith(addresses: string[]) {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  type Found = (error: null, found: typeof known) => void;
  return (_host: string, _options: object, found: Found) => found(null, known);
}

/** Resolves when the connection can be used, TLS included; a connection that comes too late is destroyed. */
function connected(socket: Socket | TLSSocket, protocol: string, late: Promise<never>) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let dialled = false;
  late.catch((error: Error) => socket.destroy(error));
  // Listens for good: a socket may fail between being ready and being taken over.
  socket.on('error', (error) => reject(dialled ? tlsFailure(error) : connectFailure(error)));
  socket.once('close', () => reject(connectFailure(new Error('closed'))));
  socket.once('connect', () => {
    dialled = true;
  });
  socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => resolve());
  return promise;
}
