import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after } from 'node:test';

/** A way to the database that a test can cut and mend. */
export async function proxyTo(url: string) {
  const target = new URL(url);
  const open = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const { port } = server.address() as AddressInfo;
  const through = new URL(url);
  through.port = String(port);
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  after(() => (server.listening ? cut() : undefined));
  return {
    url: through.href,
    cut,
    mend: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
