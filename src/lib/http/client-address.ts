import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, Next } from 'hono';
import ipaddr from 'ipaddr.js';

const ipv6NetworkBits = 64;

/**
 * Sets the client address of each request. Only proxies in `ranges` may forward it. `onUntrusted` gets the address of
 * an untrusted proxy on a private network, whose clients all count as one.
 */
export function trustProxies(
  ranges: readonly string[],
  onUntrusted: (peer: string) => void = () => {},
): (c: Context, next: Next) => Promise<void> {
  const trusted = parseRanges(ranges);
  return (c, next) => {
    const peer = peerOf(c);
    if (peer !== undefined) {
      const headers = {
        list: c.req.header('x-forwarded-for'),
        standard: c.req.header('forwarded'),
      };
      const isForwarded = headers.list !== undefined || headers.standard !== undefined;
      if (isForwarded && isInternal(peer) && !isTrusted(peer, trusted)) onUntrusted(peer);
      c.set('clientAddress', clientBehind(peer, headers, trusted));
    }
    return next();
  };
}

/** The client for rate limits: an IPv4 address or an IPv6 /64 network, which usually belongs to one client. */
export function clientAddress(c: Context): string {
  const address: string | undefined = c.get('clientAddress') ?? peerOf(c);
  return address === undefined ? 'unknown' : networkOf(address);
}

/** The client of a connection for limits. Undefined for trusted proxies, which connect for many clients. */
export function limitedClient(ranges: readonly string[]) {
  const trusted = parseRanges(ranges);
  return (remoteAddress: string | undefined): string | undefined => {
    const address = readAddress(remoteAddress);
    if (address === undefined || isTrusted(address, trusted)) return undefined;
    return networkOf(address);
  };
}

/** Undefined for a request without a socket, in tests. */
const peerOf = (c: Context) =>
  c.env?.incoming ? readAddress(getConnInfo(c).remote.address) : undefined;

function readAddress(remoteAddress = ''): string | undefined {
  const address = remoteAddress.replace(/%.*$/, '');
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined;
}

/** Forwarding headers from the internet can be forged. From a private address they more likely come from a proxy. */
const isInternal = (address: string) =>
  ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(
    ipaddr.process(address).range(),
  );

function networkOf(address: string): string {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${ipv6NetworkBits}`);
  return `${network}/${ipv6NetworkBits}`;
}

/** The forwarded addresses, client first. Null for a hop that hides its address. */
type Hops = readonly (string | null)[];

/** `X-Forwarded-For` and `Forwarded`. */
export type ForwardingHeaders = { list?: string | undefined; standard?: string | undefined };

type ProxyRanges = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

const parseRanges = (ranges: readonly string[]): ProxyRanges =>
  ranges.map((range) => ipaddr.parseCIDR(range));

/**
 * Returns the peer. If the peer is a trusted proxy, returns the nearest untrusted address that was forwarded. If the
 * two headers disagree, one may be forged, and both are ignored.
 */
export function clientBehind(
  peer: string,
  { list, standard }: ForwardingHeaders,
  trusted: ProxyRanges,
): string {
  if (!isTrusted(peer, trusted)) return peer;
  const headers = [list?.split(',').map(addressOf), standard && readForwarded(standard)];
  const readings = headers.flatMap((hops) => (hops ? [nearestUntrusted(peer, hops, trusted)] : []));
  const [first = peer, second = first] = readings;
  return first === second ? first : peer;
}

/** Walks from the peer to the client, up to the first hop that is untrusted or hides its address. */
function nearestUntrusted(peer: string, hops: Hops, trusted: ProxyRanges): string {
  let nearest = peer;
  for (const hop of hops.toReversed()) {
    if (hop === null) return nearest;
    nearest = hop;
    if (!isTrusted(hop, trusted)) return hop;
  }
  return nearest;
}

function isTrusted(address: string, trusted: ProxyRanges): boolean {
  const parsed = ipaddr.process(address);
  return trusted.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
}

/** Parses the `for=` of each element. Quoted strings may contain commas and semicolons. */
function readForwarded(header: string): Hops {
  return splitOutsideQuotes(header, ',').map((element) => {
    const pairs = splitOutsideQuotes(element, ';').map((pair) => pair.trim());
    const pair = pairs.find((each) => /^for=/i.test(each));
    return pair === undefined ? null : addressOf(pair.slice('for='.length));
  });
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts = [''];
  let quoted = false;
  for (const [at, letter] of [...text].entries()) {
    if (letter === '"' && text[at - 1] !== '\\') quoted = !quoted;
    if (letter === separator && !quoted) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts;
}

function addressOf(text: string): string | null {
  const plain = text.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, four] = /^(?:\[([^\]]*)\](?::\w+)?|([^:]*)(?::\w+)?)$/.exec(plain) ?? [];
  const address = (bracketed ?? four ?? plain).replace(/%.*$/, '');
  const isWhole = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isWhole ? ipaddr.process(address).toString() : null;
}
