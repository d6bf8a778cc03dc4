import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Ranges an operator has opened although they are forbidden by default. */
export type AllowList = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

export const parseAllowList = (ranges: readonly string[]): AllowList =>
  ranges.map((range) => ipaddr.parseCIDR(range));

/** Whether it is a CIDR range of addresses that exist. */
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
