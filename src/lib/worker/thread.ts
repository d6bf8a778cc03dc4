import { constants, getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

export type ThreadRequest = { name: string; input: unknown };
export type ThreadReply = { ok: true; value: unknown } | { ok: false; error: string };

type ThreadTasks = Readonly<Record<string, (input: never) => unknown>>;

/** Runs in the thread and serves the requests of `createWorker`. */
export function serveTasks(tasks: ThreadTasks) {
  yieldToOtherThreads();
  parentPort!.on('message', async (request: ThreadRequest) => {
    parentPort!.postMessage(await reply(tasks, request));
  });
}

/** Lowers the priority of this thread. Only Linux has priorities per thread. */
function yieldToOtherThreads() {
  if (process.platform !== 'linux') return;
  const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
  try {
    setPriority(Math.min(getPriority() + PRIORITY_BELOW_NORMAL, PRIORITY_LOW));
  } catch {
    // A sandbox may forbid the change.
  }
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
