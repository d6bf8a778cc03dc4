import ipaddr from 'ipaddr.js';

/** The addresses that a request says it came through, the farthest first; null for a hop without one. */
export type Hops = readonly (string | null)[];

export type ForwardingHeaders = {
  /** `X-Forwarded-For`, several of them joined by commas. */
  list?: string | undefined;
  /** `Forwarded` (RFC 7239). */
  standard?: string | undefined;
};

export type ProxyRanges = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

/**
 * The address of the client: that of the peer, unless the peer is a trusted proxy. Then it is the nearest
 * forwarded address that is not itself trusted. If both headers are there and differ, one of them was
 * written by the client and passed through, and neither is believed.
 */
export function clientBehind(
  peer: string,
  { list, standard }: ForwardingHeaders,
  trusted: ProxyRanges,
): string {
  if (!isTrusted(peer, trusted)) return peer;
  const readings = [
    ...(list === undefined ? [] : [nearestUntrusted(peer, readList(list), trusted)]),
    ...(standard === undefined ? [] : [nearestUntrusted(peer, readForwarded(standard), trusted)]),
  ];
  const [first = peer, second = first] = readings;
  return first === second ? first : peer;
}

/** Walks from the peer outwards. A hop that hides its address ends the walk at the proxy before it. */
function nearestUntrusted(peer: string, hops: Hops, trusted: ProxyRanges): string {
  let nearest = peer;
  for (const hop of hops.toReversed()) {
    if (hop === null) return nearest;
    nearest = hop;
    if (!isTrusted(hop, trusted)) return hop;
  }
  return nearest;
}

export function isTrusted(address: string, trusted: ProxyRanges): boolean {
  const parsed = ipaddr.process(address);
  return trusted.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
}

const readList = (header: string): Hops => header.split(',').map(addressOf);

/** The `for=` of each element. A quoted string may hold commas and semicolons. */
function readForwarded(header: string): Hops {
  return splitOutsideQuotes(header, ',').map((element) => {
    const pairs = splitOutsideQuotes(element, ';').map((pair) => pair.trim());
    const given = pairs.find((pair) => /^for=/i.test(pair));
    return given === undefined ? null : addressOf(given.slice('for='.length));
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

/** An address as proxies write it: perhaps quoted, in brackets, with a port or a zone. */
function addressOf(given: string): string | null {
  const plain = given.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, four] = /^(?:\[([^\]]*)\](?::\w+)?|([^:]*)(?::\w+)?)$/.exec(plain) ?? [];
  const address = (bracketed ?? four ?? plain).replace(/%.*$/, '');
  const isWhole = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isWhole ? ipaddr.process(address).toString() : null;
}
