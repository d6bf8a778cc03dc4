import { BoundSocket } from 'node:net';

/** A free port, for a program that cannot choose one itself. */
export function freePort(): number {
  using socket = new BoundSocket({ host: '127.0.0.1' });
  return socket.address().port;
}
