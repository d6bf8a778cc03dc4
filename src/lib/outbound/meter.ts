import type { Socket } from 'node:net';
import { OutboundFailure } from './failures.ts';

/** So much of one answer is taken off the wire, framing and all that the parser skips included. */
const maxWireBytes = 256 * 1024;

/**
 * The parser goes on to the end of what it is handed, also after it has found the headers too large,
 * at a cost for each of them: a small piece keeps that short.
 */
const pieceBytes = 1024;

export const tooMuch = new OutboundFailure('protocol', 'the answer is too large');

/** Makes a socket hand out small pieces, and hang up on who sends more than an answer can need. */
export function metered<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...sent: unknown[]) => boolean;
  let arrivedBytes = 0;

  socket.read = () => {
    if (socket.destroyed) return null;
    const piece: Buffer | null = read(Math.min(pieceBytes, socket.readableLength) || undefined);
    arrivedBytes += piece?.length ?? 0;
    if (arrivedBytes <= maxWireBytes) return piece;
    socket.destroy(tooMuch);
    return null;
  };
  // What we write is the next request: its answer begins.
  socket.write = (...sent: unknown[]) => {
    arrivedBytes = 0;
    return write(...sent);
  };
  return socket;
}
