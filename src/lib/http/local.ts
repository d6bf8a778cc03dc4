import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { isLoopbackHost } from './http-address.ts';

/** Headers that proxies and tunnels add: with one of them the peer of the socket is not the client. */
const proxyHeader = /^(forwarded|via|x-real-ip|x-forwarded.*|x-original-.*|.*-client-ip|cf-.*)$/;

/** A bare `proxy_pass` of older nginx adds no header and asks for 127.0.0.1; no client speaks this version. */
const oldestVersion = '1.0';

/**
 * Whether a client on this machine asks for this machine. The socket's peer alone is not enough: a web page
 * from anywhere can have its reader's browser ask here, under a name of its own that resolves to 127.0.0.1.
 * A proxy that adds nothing still looks local: access that matters asks for a secret as well.
 */
export function isLocalRequest(c: Context): boolean {
  const peer = c.env?.incoming ? getConnInfo(c).remote.address : undefined;
  if (!peer || !isLoopbackHost(peer)) return false;
  if (Object.keys(c.req.header()).some((name) => proxyHeader.test(name))) return false;
  if (c.env.incoming.httpVersion === oldestVersion) return false;
  if (c.req.header('Sec-Fetch-Site') === 'cross-site') return false;
  const origin = c.req.header('Origin');
  if (origin !== undefined && !isLocalUrl(origin)) return false;
  return isLocalUrl(`http://${c.req.header('Host') ?? ''}`);
}

const isLocalUrl = (url: string) => isLoopbackHost(URL.parse(url)?.hostname ?? '');
