import { BoundSocket } from 'node:net';

/** A port that no process has, for a program that cannot take one by itself. */
export function freePort(): number {
  using socket = new BoundSocket({ host: '127.0.0.1' });
  return socket.address().port;
}
