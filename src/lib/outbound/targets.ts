import { isIP } from 'node:net';
import { type AllowList, isForbidden } from './addresses.ts';

export type TargetRules = { allow: AllowList; http: boolean };

/** All an outside party learns about an address it may not reach. */
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

/** The host of a url as it is looked up or dialled: no brackets, no closing dot. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

export const meansThisMachine = (host: string): boolean =>
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
