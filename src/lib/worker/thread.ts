import { parentPort } from 'node:worker_threads';

export type ThreadRequest = { name: string; input: unknown };
export type ThreadReply = { ok: true; value: unknown } | { ok: false; error: string };

/** What a thread can do: each takes and gives what can be copied between threads. */
export type ThreadTasks = Readonly<Record<string, (input: never) => unknown>>;

/**
 * Answers the requests of `createWorker`, in the thread that it starts. First it gives up every permission,
 * also those that the process had given up already: a thread starts with all that the process began with.
 */
export function serveTasks(tasks: ThreadTasks) {
  dropPermissions();
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

const everyScope = [
  ...(['child', 'worker', 'addon', 'wasi', 'ffi', 'inspector', 'net'] as const),
  ...(['fs.write', 'fs.read'] as const),
];

/** Does nothing where the permission model is off, as in a checkout. */
function dropPermissions() {
  for (const scope of everyScope) process.permission?.drop(scope);
}
