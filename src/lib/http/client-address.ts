import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';

const ipv6NetworkBits = 64;

/**
 * Who is calling, as far as limits go: the IPv4 address, or the /64 network of an IPv6 one, because whoever
 * has one IPv6 address usually has all of its network. It is the peer of the socket: `X-Forwarded-For` and
 * its kin are ignored, for anybody can write them. Behind a proxy, all of its callers are one address.
 */
export function clientAddress(c: Context): string {
  const remote = c.env?.incoming ? getConnInfo(c).remote.address : undefined;
  return remote && ipaddr.isValid(remote) ? networkOf(remote) : 'unknown';
}

export function networkOf(address: string): string {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${ipv6NetworkBits}`);
  return `${network}/${ipv6NetworkBits}`;
}
