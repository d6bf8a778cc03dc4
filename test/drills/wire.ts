import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a port of this machine that can be cut: then nothing passes, and nothing says so. */
export type Wire = { port: number; cut: () => void; mend: () => void; end: () => void };

/**
 * Connections through a wire that is cut stay open and silent, new ones are accepted and silent too: as behind a
 * switch that swallows packets, but that the kernel goes on to acknowledge them. It is harder to notice than a
 * network that is gone. When it is mended, connections of before are broken, as their ends have given up.
 */
export async function layWire(to: number): Promise<Wire> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: to, host: '127.0.0.1', noDelay: true });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('data', (bytes) => void (isCut || other.write(bytes)));
      socket.on('end', () => void (isCut || other.end()));
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        if (!isCut) other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
    },
    mend() {
      breakAll();
      isCut = false;
    },
    end() {
      server.close();
      breakAll();
    },
  };
}
