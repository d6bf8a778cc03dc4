import ipaddr from 'ipaddr.js';

/** An address to type into a browser: an IPv6 host stands in brackets. */
export const httpAddress = (host: string, port: number) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Whether a host, as a setting or a URL spells it, is this machine and no other. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback';
}

export const isWildcardHost = (host: string) => host === '0.0.0.0' || host === '::';
