import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/**
 * Sends requests over raw keep-alive sockets, one at a time on each, from a separate process, so that sending costs
 * little compared with answering. As a program it runs one `Load` and exits.
 */
export type Load = {
  port: number;
  /** Complete HTTP requests, sent in turn. Repeated unless `once` is set. */
  requests: readonly string[];
  connections: number;
  seconds: number;
  once?: boolean;
};

export type Measured = {
  perSecond: number;
  count: number;
  p50: number;
  p99: number;
  /** Unsuccessful answers by status. */
  refused: Record<string, number>;
};

if (process.send) process.once('message', (load: Load) => void run(load));

export async function applyLoad(load: Load): Promise<Measured> {
  const child = fork(import.meta.filename);
  child.send(load);
  const [measured] = (await once(child, 'message')) as [Measured];
  child.disconnect();
  return measured;
}

export const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines(headers)}\r\n`;

export const post = (path: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines(headers)}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const lines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

async function run({ port, requests, connections, seconds, once: onlyOnce }: Load) {
  const latencies: number[] = [];
  const refused: Record<string, number> = {};
  let next = 0;
  const take = () =>
    onlyOnce && next >= requests.length ? undefined : requests[next++ % requests.length];
  const begun = performance.now();
  const end = begun + seconds * 1000;

  const worker = async () => {
    const ask = openConnection(port);
    for (;;) {
      const at = performance.now();
      const request = at < end ? take() : undefined;
      if (request === undefined) return ask.close();
      const status = await ask.send(request);
      latencies.push(performance.now() - at);
      if (status >= 300) refused[status] = (refused[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const elapsed = (performance.now() - begun) / 1000;
  const count = latencies.length;
  process.send?.({ perSecond: count / elapsed, count, ...percentiles(latencies), refused });
}

export function percentiles(values: number[]): { p50: number; p99: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function openConnection(port: number) {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let buffered: Buffer = Buffer.alloc(0);
  let [resolve, reject] = [(_: number) => {}, (_: Error) => {}];
  socket.on('data', (chunk: Buffer) => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
    const status = completeAnswer(buffered);
    if (status === undefined) return;
    buffered = Buffer.alloc(0);
    resolve(status);
  });
  socket.on('error', (error) => reject(error));
  socket.on('close', () => reject(new Error('the service closed a connection')));
  return {
    send(request: string): Promise<number> {
      return new Promise((succeed, fail) => {
        [resolve, reject] = [succeed, fail];
        socket.write(request);
      });
    },
    close: () => socket.destroy(),
  };
}

/** Status of a complete answer. */
function completeAnswer(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined && status !== 204)
    throw new Error(`an answer without a length:\n${head}`);
  return bytes.length >= end + 4 + Number(length ?? 0) ? status : undefined;
}
