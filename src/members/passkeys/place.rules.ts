import { isIP } from 'node:net';

/** Where passkeys belong: browsers bind each to the host, and offer it there alone. */
export type PasskeyPlace = { rpId: string; origin: string };

/** Undefined where browsers have no passkeys: at a bare network address, and without encryption elsewhere than here. */
export function passkeyPlace(publicUrl: string): PasskeyPlace | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isNumber = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isNumber || (protocol !== 'https:' && !isLocal)) return undefined;
  return { rpId: hostname, origin };
}
