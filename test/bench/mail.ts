import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export type Sink = Awaited<ReturnType<typeof startSink>>;

/** A mail server in its own thread, so that it does not count towards the results. */
export async function startSink() {
  const worker = new Worker(new URL('./smtp-sink.ts', import.meta.url));
  const [port] = (await once(worker, 'message')) as [number];
  return { worker, url: `smtp://127.0.0.1:${port}` };
}
