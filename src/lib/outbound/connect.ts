import { lookup, Resolver } from 'node:dns/promises';
import { isIP, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls, type TLSSocket } from 'node:tls';
import ipaddr from 'ipaddr.js';
import type { buildConnector } from 'undici';
import { withinMs } from '../async/deadline.ts';

type Guard = { allow: AllowList; resolve: Resolve };

const connectTimeoutMs = 5_000;

/** The only way out: each address is judged before and after dialling. */
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
  const known = isIP(host) !== 0 ? [host] : meansThisMachine(host) ? ['127.0.0.1'] : undefined;
  const addresses = known ?? (await resolve(host));
  if (addresses.length === 0 || addresses.some((address) => isForbidden(address, allow))) {
    throw new OutboundFailure('forbidden', forbiddenTarget);
  }
  return addresses;
}

async function dial(guard: Guard, target: buildConnector.Options): Promise<Socket> {
  const host = target.hostname.replace(/\.$/, '');
  let socket: Socket | undefined;
  let isLate = false;

  async function connectJudged() {
    const addresses = await judgedAddresses(guard, host);
    if (isLate) throw tooLate();
    socket = open(target, host, addresses);
    await connected(socket, target.protocol);
    if (socket.remoteAddress && !isForbidden(socket.remoteAddress, guard.allow)) {
      return metered(socket);
    }
    socket.destroy();
    throw new OutboundFailure('forbidden', forbiddenTarget);
  }

  // Looking up, dialling and TLS share one time limit.
  return await withinMs(connectJudged(), connectTimeoutMs, () => {
    isLate = true;
    socket?.destroy();
    throw tooLate();
  });
}

const tooLate = () =>
  new OutboundFailure('timeout', `no connection within ${connectTimeoutMs / 1000} s`);

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
  const judged = addresses.map((address) => ({ address, family: isIP(address) }));
  type Answer = (error: null, addresses: typeof judged) => void;
  return (_host: string, _options: object, answer: Answer) => answer(null, judged);
}

function connected(socket: Socket | TLSSocket, protocol: string) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let dialled = false;
  // Listens for good: a socket may fail between being ready and being taken over.
  socket.on('error', (error) => reject(socketFailure(error, dialled)));
  socket.once('close', () => reject(socketFailure(new Error('closed'), false)));
  socket.once('connect', () => {
    dialled = true;
  });
  socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => resolve());
  return promise;
}

/** Limits one answer as it comes off the wire, with framing and all that the parser skips. */
const maxWireBytes = 256 * 1024;

/**
 * The parser goes on to the end of what it is handed, also after it has found the headers too large,
 * at a cost for each of them: a small piece keeps that short.
 */
const pieceBytes = 1024;

/** A failure with its sentence for the caller who gave us the address. It must not show what our network looks like. */
export class OutboundFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, sentence: string, cause?: unknown) {
    super(sentence, { cause });
    this.kind = kind;
  }
}

export const tooMuch = new OutboundFailure('protocol', 'the answer is too large');

/** Makes a socket hand out small pieces, and hang up on who sends more than an answer can need. */
export function metered<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...sent: unknown[]) => boolean;
  let arrivedBytes = 0;

  socket.read = () => {
    if (socket.destroyed) return null;
    const piece: Buffer | null = read(Math.min(pieceBytes, socket.readableLength) || undefined);
    arrivedBytes += piece?.length ?? 0;
    if (arrivedBytes <= maxWireBytes) return piece;
    socket.destroy(tooMuch);
    return null;
  };
  // What we write is the next request: its answer begins.
  socket.write = (...sent: unknown[]) => {
    arrivedBytes = 0;
    return write(...sent);
  };
  return socket;
}

type TargetRules = { allow: AllowList; http: boolean };

export const forbiddenTarget = 'the url must not lead to this machine or to a private network';

const maxUrlLength = 2048;

/**
 * What is wrong with a target as far as its text shows, as a sentence, or null. Names are not looked
 * up here: where they lead is judged each time they are dialled.
 */
export function judgeTarget(url: string, { allow, http }: TargetRules): string | null {
  if (url.length > maxUrlLength)
    return `the url must not be longer than ${maxUrlLength} characters`;
  // The parser drops tabs and line ends and turns backslashes: what was judged must be what was read.
  if (/[\s\\\p{Cc}]/u.test(url)) return 'the url must not contain spaces or control characters';
  const parsed = URL.parse(url);
  if (!parsed) return 'the url is not a valid address';
  if (parsed.protocol !== 'https:' && !(http && parsed.protocol === 'http:')) {
    return http
      ? 'the url must begin with https:// or http://'
      : 'the url must begin with https://';
  }
  if (parsed.username !== '' || parsed.password !== '' || /^\w+:\/\/[^/?#]*@/.test(url)) {
    return 'the url must not contain a user name or password';
  }
  if (unusablePorts.has(Number(parsed.port || 443))) {
    return `the url must not use port ${parsed.port}`;
  }
  return judgeHost(hostOf(parsed), allow);
}

export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

const meansThisMachine = (host: string): boolean =>
  /(^|\.)localhost\.?$|^localhost[46]?(\.localdomain[46]?)?\.?$|^ip6-(localhost|loopback)\.?$/i.test(
    host,
  );

function judgeHost(host: string, allow: AllowList): string | null {
  if (isIP(host) !== 0) return isForbidden(host, allow) ? forbiddenTarget : null;
  if (meansThisMachine(host)) return isForbidden('127.0.0.1', allow) ? forbiddenTarget : null;
  const labels = host.split('.');
  const isName = host.length <= 253 && labels.every((label) => /^[\w-]{1,63}$/.test(label));
  return isName ? null : 'the url has no valid host name';
}

/**
 * The ports that browsers refuse as well: what listens there is not HTTP, and could be talked into
 * taking our bytes for its own language.
 */
const unusablePorts: ReadonlySet<number> = new Set([
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

/**
 * Whether an outside party may make us talk to this address. Everything is forbidden but addresses
 * of the public internet and what the operator has opened; what is no address at all is forbidden too.
 */
export function isForbidden(address: string, allow: AllowList): boolean {
  if (isIP(address) === 0 || address.includes('%')) return true;
  const parsed = ipaddr.parse(address);
  const meant = parsed.kind() === 'ipv6' ? carried(parsed as ipaddr.IPv6) : parsed;
  if ([parsed, meant].some((one) => allow.some((range) => contains(range, one)))) return false;
  return !isPublic(meant);
}

/** The address a packet ends up at: several IPv6 forms only wrap an IPv4 address. */
function carried(address: ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
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
  return !hostsOfClouds.has(address.toString());
}

/** Public in form, but answered by the cloud's own machinery: Azure's is reachable from every guest. */
const hostsOfClouds: ReadonlySet<string> = new Set(['168.63.129.16']);

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
 * Asks the name servers directly: a system lookup occupies one of the process's few threads for as
 * long as a hostile name server likes. Names that only the machine's own files know are looked up
 * the system's way, a few at a time, and only where private targets are allowed at all.
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
  | 'forbidden' // the address may not be reached
  | 'dns' // the name leads nowhere
  | 'connect' // no program takes the connection
  | 'tls' // the other side cannot prove who it is
  | 'timeout' // no whole answer in time
  | 'reset' // the connection ended before the answer did
  | 'protocol' // what came back is not an HTTP answer
  | 'busy' // no connection to this host became free in time: nothing was sent
  | 'cancelled'; // the process stops

export function failureOf(error: Error & { code?: string }): OutboundFailure | undefined {
  if (error instanceof OutboundFailure) return error;
  const code = error.code ?? '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new OutboundFailure('protocol', 'the headers of the answer are too large', error);
  }
  if (notHttp(error)) {
    return new OutboundFailure('protocol', 'the answer is not valid HTTP', error);
  }
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
    return new OutboundFailure('cancelled', 'the request was given up', error);
  }
  if (/^(UND_ERR_INVALID_ARG|UND_ERR_REQ_|UND_ERR_NOT_SUPPORTED|ERR_INVALID_)/.test(code)) {
    return undefined;
  }
  return new OutboundFailure('reset', 'the connection ended before the answer was complete', error);
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

const notHttp = (error: Error & { code?: string }) =>
  error.name === 'HTTPParserError' ||
  error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' ||
  (error.code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)/.test(error.message));
