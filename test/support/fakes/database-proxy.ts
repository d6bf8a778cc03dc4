import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after } from 'node:test';

/** A proxy to the database that a test can cut and mend. */
export async function proxyTo(url: string) {
  const target = new URL(url);
  const open = new Set<Socket>();
  let made = 0;
  const server = createServer((incoming) => {
    made += 1;
    const outgoing = connectTo(target);
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
  through.hostname = '127.0.0.1';
  through.port = String(port);
  through.searchParams.delete('host');
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  after(() => (server.listening ? cut() : undefined));
  return {
    url: through.href,
    /** The number of connections through the proxy so far. */
    made: () => made,
    cut,
    mend: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}

/** `host` is the folder of the socket when the server has no TCP port. */
function connectTo({ hostname, port, searchParams }: URL): Socket {
  const folder = searchParams.get('host');
  return folder ? connect(`${folder}/.s.PGSQL.${port || 5432}`) : connect(Number(port), hostname);
}
