import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { isLoopbackHost } from './http-address.ts';

/** What a proxy adds for whom it speaks: then the peer of the socket is not who asks. */
const proxyHeaders = ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via'];

/** A bare `proxy_pass` of nginx adds nothing and asks for 127.0.0.1 itself; but it asks in this, as no client does. */
const oldestVersion = '1.0';

/**
 * Whether somebody on this machine asks for this machine. The socket's peer alone is not enough: a web page
 * from anywhere can have its reader's browser ask here, under a name of its own that resolves to 127.0.0.1.
 */
export function isLocalRequest(c: Context): boolean {
  const peer = c.env?.incoming ? getConnInfo(c).remote.address : undefined;
  if (!peer || !isLoopbackHost(peer)) return false;
  if (proxyHeaders.some((name) => c.req.header(name) !== undefined)) return false;
  if (c.env.incoming.httpVersion === oldestVersion) return false;
  return isLocalName(c.req.header('Host') ?? '');
}

function isLocalName(host: string): boolean {
  return isLoopbackHost(URL.parse(`http://${host}`)?.hostname ?? '');
}
