import { lookup, Resolver } from 'node:dns/promises';
import { isIP, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls, type TLSSocket } from 'node:tls';
import ipaddr from 'ipaddr.js';
import type { buildConnector } from 'undici';
import { withinMs } from '../async/deadline.ts';

type Guard = { allow: AllowList; resolve: Resolve };

const connectTimeoutMs = 5_000;

/** Connector for undici that checks each address before and after connecting (SSRF protection). */
export const guardedConnector =
  (guard: Guard): buildConnector.connector =>
  (target, callback) => {
    dial(guard, target).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };

/** Resolves a host. Refuses it if any of its addresses is forbidden. */
export async function resolveAllowed({ allow, resolve }: Guard, host: string): Promise<string[]> {
  const fixed = isIP(host) !== 0 ? [host] : isLocalhost(host) ? ['127.0.0.1'] : undefined;
  const addresses = fixed ?? (await resolve(host));
  if (addresses.length === 0 || addresses.some((address) => isForbidden(address, allow))) {
    throw new OutboundFailure('forbidden', forbiddenTarget);
  }
  return addresses;
}

async function dial(guard: Guard, target: buildConnector.Options): Promise<Socket> {
  const host = target.hostname.replace(/\.$/, '');
  let socket: Socket | undefined;
  let isLate = false;

  async function connectChecked() {
    const addresses = await resolveAllowed(guard, host);
    if (isLate) throw connectTimeout();
    socket = open(target, host, addresses);
    await connected(socket, target.protocol);
    if (socket.remoteAddress && !isForbidden(socket.remoteAddress, guard.allow)) {
      return limitAnswer(socket);
    }
    socket.destroy();
    throw new OutboundFailure('forbidden', forbiddenTarget);
  }

  // DNS, TCP and TLS share one time limit.
  return await withinMs(connectChecked(), connectTimeoutMs, () => {
    isLate = true;
    socket?.destroy();
    throw connectTimeout();
  });
}

const connectTimeout = () =>
  new OutboundFailure('timeout', `no connection within ${connectTimeoutMs / 1000} s`);

function open(target: buildConnector.Options, host: string, addresses: string[]): Socket {
  const https = target.protocol === 'https:';
  const options = {
    host,
    port: Number(target.port || (https ? 443 : 80)),
    lookup: fixedLookup(addresses),
    autoSelectFamily: true,
    noDelay: true,
  };
  if (!https) return openTcp(options);
  // Certificates are checked against the host name, not the address.
  const servername = isIP(host) !== 0 ? '' : host;
  return openTls({ ...options, servername, ALPNProtocols: ['http/1.1'] });
}

/** Returns only the checked addresses, so that a second DNS lookup cannot return others. */
function fixedLookup(addresses: string[]) {
  const checked = addresses.map((address) => ({ address, family: isIP(address) }));
  type Answer = (error: null, addresses: typeof checked) => void;
  return (_host: string, _options: object, answer: Answer) => answer(null, checked);
}

function connected(socket: Socket | TLSSocket, protocol: string) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let dialled = false;
  // Never removed, because the socket may fail before undici takes it over.
  socket.on('error', (error) => reject(socketFailure(error, dialled)));
  socket.once('close', () => reject(socketFailure(new Error('closed'), false)));
  socket.once('connect', () => {
    dialled = true;
  });
  socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => resolve());
  return promise;
}

/** The limit of one answer on the wire, including framing. */
const maxWireBytes = 256 * 1024;

/** The parser reads a whole piece even after the headers were too large, so pieces are small. */
const pieceBytes = 1024;

/** The message is for the owner of the URL. It must not reveal our network. */
export class OutboundFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, sentence: string, cause?: unknown) {
    super(sentence, { cause });
    this.kind = kind;
  }
}

export const answerTooLarge = new OutboundFailure('protocol', 'the response is too large');

/** Makes a socket return small pieces and close above the limit. */
export function limitAnswer<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...sent: unknown[]) => boolean;
  let arrivedBytes = 0;

  socket.read = () => {
    if (socket.destroyed) return null;
    const piece: Buffer | null = read(Math.min(pieceBytes, socket.readableLength) || undefined);
    arrivedBytes += piece?.length ?? 0;
    if (arrivedBytes <= maxWireBytes) return piece;
    socket.destroy(answerTooLarge);
    return null;
  };
  // A write starts the next request, so a new response begins.
  socket.write = (...sent: unknown[]) => {
    arrivedBytes = 0;
    return write(...sent);
  };
  return socket;
}

type TargetRules = { allow: AllowList; http: boolean };

export const forbiddenTarget = 'the url must not point to this machine or to a private network';

const maxUrlLength = 2048;

/** Checks the text of a URL. Returns the error or null. Host names are resolved and checked on each connection. */
export function checkTarget(url: string, { allow, http }: TargetRules): string | null {
  if (url.length > maxUrlLength)
    return `the url must not be longer than ${maxUrlLength} characters`;
  // The URL parser drops tabs and line ends and converts backslashes.
  if (/[\s\\\p{Cc}]/u.test(url)) return 'the url must not contain spaces or control characters';
  const parsed = URL.parse(url);
  if (!parsed) return 'the url is not valid';
  if (parsed.protocol !== 'https:' && !(http && parsed.protocol === 'http:')) {
    return http
      ? 'the url must begin with https:// or http://'
      : 'the url must begin with https://';
  }
  if (parsed.username !== '' || parsed.password !== '' || /^\w+:\/\/[^/?#]*@/.test(url)) {
    return 'the url must not contain a user name or password';
  }
  if (blockedPorts.has(Number(parsed.port || 443))) {
    return `the url must not use port ${parsed.port}`;
  }
  return checkHost(hostOf(parsed), allow);
}

export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

const isLocalhost = (host: string): boolean =>
  /(^|\.)localhost\.?$|^localhost[46]?(\.localdomain[46]?)?\.?$|^ip6-(localhost|loopback)\.?$/i.test(
    host,
  );

function checkHost(host: string, allow: AllowList): string | null {
  if (isIP(host) !== 0) return isForbidden(host, allow) ? forbiddenTarget : null;
  if (isLocalhost(host)) return isForbidden('127.0.0.1', allow) ? forbiddenTarget : null;
  const labels = host.split('.');
  const isName = host.length <= 253 && labels.every((label) => /^[\w-]{1,63}$/.test(label));
  return isName ? null : 'the url has no valid host name';
}

/** Ports that browsers block, because the protocols behind them might understand parts of an HTTP request. */
const blockedPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

type AllowList = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

export const parseAllowList = (ranges: readonly string[]): AllowList =>
  ranges.map((range) => ipaddr.parseCIDR(range));

export const isRange = (text: string) => ipaddr.isValidCIDR(text) && text.includes('/');

/** Allows public addresses and the allow list of the operator. Invalid addresses are forbidden. */
export function isForbidden(address: string, allow: AllowList): boolean {
  if (isIP(address) === 0 || address.includes('%')) return true;
  const parsed = ipaddr.parse(address);
  const target = parsed.kind() === 'ipv6' ? unwrapIpv4(parsed as ipaddr.IPv6) : parsed;
  if ([parsed, target].some((one) => allow.some((range) => contains(range, one)))) return false;
  return !isPublic(target);
}

/** Unwraps IPv4-mapped, NAT64 and 6to4 addresses. */
function unwrapIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress() || address.match(translated)) {
    return new ipaddr.IPv4(bytes.slice(12));
  }
  if (address.match(sixToFour)) return new ipaddr.IPv4(bytes.slice(2, 6));
  return address;
}

const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const sixToFour = ipaddr.IPv6.parseCIDR('2002::/16');
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv6') return (address as ipaddr.IPv6).match(globalUnicast);
  return !cloudHosts.has(address.toString());
}

/** Public addresses of cloud metadata services: Azure's is reachable from every virtual machine. */
const cloudHosts: ReadonlySet<string> = new Set(['168.63.129.16']);

function contains([base, bits]: AllowList[number], address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return base.kind() === address.kind() && address.match(base, bits);
}

export type Resolve = (name: string) => Promise<string[]>;

const queryTimeoutMs = 1_500;
const resolveTimeoutMs = 4_000;
const maxSystemLookups = 2;

type ResolveOptions = {
  systemNames: boolean;
  resolver?: Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;
  systemLookup?: (name: string) => Promise<{ address: string }[]>;
};

/**
 * Queries name servers directly, because a hostile one could block the few threads of system lookups. Only names in the
 * hosts file use the system lookup, a few at a time, and only if private targets are allowed.
 */
export function createResolve({
  systemNames,
  resolver = new Resolver({ timeout: queryTimeoutMs, tries: 2, maxTimeout: queryTimeoutMs }),
  systemLookup = (name) => lookup(name, { all: true }),
}: ResolveOptions) {
  let systemLookups = 0;

  async function systemAddresses(name: string): Promise<string[]> {
    if (!systemNames || systemLookups >= maxSystemLookups) return [];
    systemLookups += 1;
    const answers = await systemLookup(name).catch(() => []);
    systemLookups -= 1;
    return answers.map(({ address }) => address);
  }

  async function ask(name: string): Promise<string[]> {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    return addresses.length > 0 ? addresses : systemAddresses(name);
  }

  const resolve: Resolve = async (name) => {
    const addresses = await withinMs(ask(name), resolveTimeoutMs, () => []);
    if (addresses.length > 0) return addresses;
    throw new OutboundFailure('dns', 'the host name does not resolve');
  };

  return { resolve, close: () => resolver.cancel() };
}

export type FailureKind =
  | 'forbidden' // the address is not allowed
  | 'dns' // the host name does not resolve
  | 'connect' // the connection was refused
  | 'tls' // the certificate is invalid
  | 'timeout' // no complete answer in time
  | 'reset' // the connection ended before the response was complete
  | 'protocol' // the answer is not HTTP
  | 'busy' // no free connection to this host in time, so nothing was sent
  | 'cancelled'; // the process is stopping

export function failureOf(error: Error & { code?: string }): OutboundFailure | undefined {
  if (error instanceof OutboundFailure) return error;
  const code = error.code ?? '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new OutboundFailure('protocol', 'the headers of the response are too large', error);
  }
  if (isProtocolError(error)) {
    return new OutboundFailure('protocol', 'the response is not valid HTTP', error);
  }
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    return new OutboundFailure('cancelled', 'the request was canceled', error);
  }
  if (/^(UND_ERR_INVALID_ARG|UND_ERR_REQ_|UND_ERR_NOT_SUPPORTED|ERR_INVALID_)/.test(code)) {
    return undefined;
  }
  return new OutboundFailure(
    'reset',
    'the connection ended before the response was complete',
    error,
  );
}

function socketFailure(error: Error & { code?: string }, dialled: boolean): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  const { code = '' } = error;
  if (!dialled) {
    const refused = code === 'ECONNREFUSED';
    const sentence = refused ? 'the connection was refused' : 'the host could not be reached';
    return new OutboundFailure('connect', sentence, error);
  }
  const sentence = /CERT|SIGNATURE|ALTNAME|ISSUER/.test(code)
    ? `the TLS certificate is not valid (${code})`
    : 'the TLS connection could not be made';
  return new OutboundFailure('tls', sentence, error);
}

const isProtocolError = (error: Error & { code?: string }) =>
  error.name === 'HTTPParserError' ||
  error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
  (error.code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)/.test(error.message));
