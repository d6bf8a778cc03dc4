import { parentPort } from 'node:worker_threads';

export type ThreadRequest = { name: string; input: unknown };
export type ThreadReply = { ok: true; value: unknown } | { ok: false; error: string };

/** What a thread can do: each takes and gives what can be copied between threads. */
export type ThreadTasks = Readonly<Record<string, (input: never) => unknown>>;

/** Answers the requests of `createWorker`, in the thread that it starts. */
export function serveTasks(tasks: ThreadTasks) {
  parentPort!.on('message', async (request: ThreadRequest) => {
    parentPort!.postMessage(await reply(tasks, request));
  });
}

async function reply(tasks: ThreadTasks, { name, input }: ThreadRequest): Promise<ThreadReply> {
  try {
    const task = tasks[name];
    if (!task) throw new Error(`there is no task ${name}`);
    return { ok: true, value: await task(input as never) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}
