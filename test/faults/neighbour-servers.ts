import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Accepts every message after the given time. */
export async function startMailServer(exchangeMs: number) {
  const url = new URL('./neighbour-mail-server.ts', import.meta.url);
  const worker = new Worker(url, { workerData: { exchangeMs } });
  const [port] = (await once(worker, 'message')) as [number];
  return { port, close: () => worker.terminate() };
}

/** `/hang` never answers, `/other` keeps the ids of the responses it got, everything else is accepted. */
export async function startSubscriber() {
  const seen = new Set<string>();
  const hanging = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      if (request.url === '/hang') return void hanging.add(response);
      if (request.url === '/other') seen.add(JSON.parse(body).responseId);
      response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function arrived(responseId: string, withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    while (!seen.has(responseId) && performance.now() < until) await sleep(2);
    return seen.has(responseId);
  }

  function close() {
    server.close();
    server.closeAllConnections();
  }

  return { urlOf: (path: string) => `http://127.0.0.1:${port}${path}`, arrived, close };
}
