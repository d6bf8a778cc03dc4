/**
 * Hostile subscribers, each on its own port of one child process, so that their CPU time does not count as ours. Run as
 * a program, this file is the child. Imported, it starts one.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

const head = (status: string, ...headers: string[]) =>
  `HTTP/1.1 ${status}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;
const chunked = head('200 OK', 'transfer-encoding: chunked');
const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
const forged = `${head('299 Forged', 'content-length: 6')}forged`;

const behaviours = {
  silent: () => {},
  dripsBody: (socket: Socket) => {
    socket.write(head('200 OK', 'content-length: 100000'));
    drip(socket, 'x');
  },
  dripsHeaders: (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
    drip(socket, 'x');
  },
  endlessChunks: (socket: Socket) => {
    socket.write(chunked);
    flood(socket, `10000\r\n${'x'.repeat(65_536)}\r\n`);
  },
  endlessLength: (socket: Socket) => {
    socket.write(head('200 OK', 'content-length: 1000000000000'));
    flood(socket, 'x'.repeat(65_536));
  },
  endlessError: (socket: Socket) => {
    socket.write(head('500 Oops', 'transfer-encoding: chunked'));
    flood(socket, `10000\r\n${'x'.repeat(65_536)}\r\n`);
  },
  endlessExtension: (socket: Socket) => {
    socket.write(`${chunked}5;`);
    flood(socket, 'x'.repeat(65_536));
  },
  endlessLineEnds: (socket: Socket) => flood(socket, '\r\n'.repeat(32_768)),
  hugeHeaders: (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-huge: ');
    flood(socket, 'x'.repeat(65_536));
  },
  manyHeaders: (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    flood(socket, 'x-many: headers\r\n'.repeat(4_096));
  },
  resetsInBody: (socket: Socket) =>
    socket.write(`${head('200 OK', 'content-length: 100')}half`, () => socket.resetAndDestroy()),
  endsInBody: (socket: Socket) => socket.end(`${head('200 OK', 'content-length: 100')}half`),
  resetsAtOnce: (socket: Socket) => socket.resetAndDestroy(),
  gzipBomb: (socket: Socket) => {
    socket.write(head('200 OK', 'content-encoding: gzip', `content-length: ${bomb.length}`));
    socket.write(bomb);
  },
  floods103: (socket: Socket) => flood(socket, head('103 Early Hints', 'link: </x>').repeat(512)),
  floods102: (socket: Socket) => flood(socket, head('102 Processing').repeat(512)),
  says100: (socket: Socket) => flood(socket, head('100 Continue').repeat(512)),
  switches: (socket: Socket) =>
    socket.write(head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket')),
  bodyAfter204: (socket: Socket) => socket.write(head('204 No Content') + forged),
  bodyAfter304: (socket: Socket) => socket.write(head('304 Not Modified') + forged),
  lengthOn204: (socket: Socket) =>
    socket.write(`${head('204 No Content', 'content-length: 6')}forged`),
  notHttp: (socket: Socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'),
  twoLengths: (socket: Socket) =>
    socket.write(`${head('200 OK', 'content-length: 5', 'content-length: 6')}hello`),
} satisfies Record<string, (socket: Socket) => void>;

export type Behaviour = keyof typeof behaviours | 'slowAccept';

/** Starts all subscribers. `ports.slowAccept` is a port that never accepts queued connections. */
export async function startHostile() {
  const child: ChildProcess = fork(import.meta.filename);
  const [ports] = await once(child, 'message');
  return {
    ports: ports as Record<Behaviour, number>,
    stop: () => child.kill('SIGKILL'),
  };
}

function drip(socket: Socket, bytes: string) {
  const timer = setInterval(() => socket.write(bytes), 50);
  socket.on('close', () => clearInterval(timer));
}

/** Sends as fast as the other side reads. */
function flood(socket: Socket, bytes: string) {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
}

async function listen(behave: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => behave(socket));
  });
  server.listen(0, '127.0.0.1', 1024);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A thread that listens but never accepts, so that the kernel's short queue fills up and other connections wait. */
async function listenWithoutAccepting(): Promise<number> {
  const program = `
    const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:worker_threads').parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const [port] = await once(new Worker(program, { eval: true }), 'message');
  return port as number;
}

if (process.send && process.argv[1] === import.meta.filename) {
  const ports: Record<string, number> = { slowAccept: await listenWithoutAccepting() };
  for (const [name, behave] of Object.entries(behaviours)) ports[name] = await listen(behave);
  process.send(ports);
  process.on('disconnect', () => process.exit());
}
