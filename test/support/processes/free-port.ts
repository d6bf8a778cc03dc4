import { BoundSocket } from 'node:net';

/** Below the ports that the system gives to others, so that the port stays free until the program takes it. */
let port = 10_240 + (process.pid % 700) * 32;

/** A free port, for a program that cannot choose one itself. Concurrent processes get ports from different ranges. */
export function freePort(): number {
  for (;;) {
    port += 1;
    try {
      new BoundSocket({ host: '127.0.0.1', port })[Symbol.dispose]();
      return port;
    } catch (error) {
      if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
    }
  }
}
