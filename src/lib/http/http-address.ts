import ipaddr from 'ipaddr.js';

/** An address to type into a browser: an IPv6 host stands in brackets. */
export const httpAddress = (host: string, port: number) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** True for a host of a setting or a URL that is this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback';
}

export const isWildcardHost = (host: string) => host === '0.0.0.0' || host === '::';
