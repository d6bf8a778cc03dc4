import ipaddr from 'ipaddr.js';

/** A URL with an IPv6 host in brackets. */
export const httpAddress = (host: string, port: number) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback';
}

export const isWildcardHost = (host: string) => host === '0.0.0.0' || host === '::';
