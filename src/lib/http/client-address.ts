import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, Next } from 'hono';
import ipaddr from 'ipaddr.js';
import { clientBehind, isTrusted, type ProxyRanges } from './forwarded.ts';

const ipv6NetworkBits = 64;
/** How many addresses are remembered: parsing one takes longer than finding the route of its request. */
const rememberedAddresses = 5000;

/**
 * Finds the address of each request's client. Only the proxies in `ranges` are believed when they forward
 * one. `onUntrusted` is called with the peer when an address is forwarded by a proxy on a private address
 * that is not trusted: all clients of that proxy then count as one.
 */
export function trustProxies(
  ranges: readonly string[],
  onUntrusted: (peer: string) => void = () => {},
): (c: Context, next: Next) => Promise<void> {
  const trusted: ProxyRanges = ranges.map((range) => ipaddr.parseCIDR(range));
  return (c, next) => {
    const peer = peerOf(c);
    if (peer !== undefined) {
      const headers = {
        list: c.req.header('x-forwarded-for'),
        standard: c.req.header('forwarded'),
      };
      const isForwarded = headers.list !== undefined || headers.standard !== undefined;
      if (isForwarded && isInternal(peer) && !isTrusted(peer, trusted)) onUntrusted(peer);
      c.set('clientAddress', isForwarded ? clientBehind(peer, headers, trusted) : peer);
    }
    return next();
  };
}

/**
 * The client as limits count it: its IPv4 address, or the /64 network of its IPv6 address, because a client that
 * has one IPv6 address usually has its whole network.
 */
export function clientAddress(c: Context): string {
  const address: string | undefined = c.get('clientAddress') ?? peerOf(c);
  return address === undefined ? 'unknown' : networkOf(address);
}

/** The other end of the socket. A request that came over none, in a test, has no peer. */
function peerOf(c: Context): string | undefined {
  const remote = c.env?.incoming ? getConnInfo(c).remote.address : undefined;
  return remote === undefined ? undefined : plainAddress(remote);
}

const plainAddress = remembering((given): string | undefined => {
  const address = given.replace(/%.*$/, '');
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined;
});

/** A client on the internet may write any header; one on such an address is more likely a proxy. */
const isInternal = (address: string) =>
  ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(
    ipaddr.process(address).range(),
  );

export const networkOf = remembering((address) => {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${ipv6NetworkBits}`);
  return `${network}/${ipv6NetworkBits}`;
});

/** The same clients ask again and again. Addresses beyond the limit push all others out. */
function remembering<Result>(read: (address: string) => Result): (address: string) => Result {
  const known = new Map<string, Result>();
  return (address) => {
    const found = known.get(address);
    if (found !== undefined || known.has(address)) return found as Result;
    const result = read(address);
    if (known.size >= rememberedAddresses) known.clear();
    known.set(address, result);
    return result;
  };
}
