import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Accepts every message after the given time. */
export async function startMailServer(exchangeMs: number) {
  const { worker, port } = await startThread('../bench/smtp-sink.ts', { exchangeMs });
  return { port, close: () => worker.terminate() };
}

/** `/hang` never responds. `/other` records the ids of the responses in its events. All other paths accept everything. */
export async function startSubscriber() {
  const { worker, port } = await startThread('./neighbour-subscriber.ts');
  const arrivals = new Map<string, PromiseWithResolvers<boolean>>();
  const arrivalOf = (responseId: string) => {
    const known = arrivals.get(responseId) ?? Promise.withResolvers<boolean>();
    arrivals.set(responseId, known);
    return known;
  };
  worker.on('message', (responseId: string) => arrivalOf(responseId).resolve(true));

  async function arrived(responseId: string, withinMs: number): Promise<boolean> {
    const { promise, resolve } = arrivalOf(responseId);
    const late = setTimeout(() => resolve(false), withinMs);
    return await promise.finally(() => clearTimeout(late));
  }

  return { url: `http://127.0.0.1:${port}`, arrived, close: () => worker.terminate() };
}

async function startThread(file: string, workerData?: object) {
  const worker = new Worker(new URL(file, import.meta.url), { workerData });
  const [port] = (await once(worker, 'message')) as [number];
  return { worker, port };
}
