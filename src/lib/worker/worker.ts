import { Worker as Thread } from 'node:worker_threads';
import { createSemaphore, TooManyWaiting } from '../async/semaphore.ts';
import type { ThreadReply, ThreadRequest } from './thread.ts';

// The constructor is taken once, at the start: `restrictToNetwork` takes it away from everything else.
const ThreadConstructor = Thread;

/** The thread's program: a file of a checkout, or a text out of the executable. */
export type ThreadProgram = URL | string;

export type WorkerOptions = {
  program: () => ThreadProgram;
  heapMb: number;
  waitingPerGroup: number;
};

type WorkerTask = { name: string; input: unknown; group: string; limitMs: number };

/** Why a task has no result: it took too long, too many wait, the worker stopped, or the thread or the task failed. */
export class WorkerError extends Error {
  readonly kind: 'timeout' | 'busy' | 'stopped' | 'failed';

  constructor(kind: WorkerError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export type Worker = ReturnType<typeof createWorker>;

/**
 * Runs tasks one after the other in a thread of its own, which starts with the first task and keeps what it has loaded.
 * A task that takes longer than its limit, waiting included, ends with an error; if it is running, the thread ends with it.
 * A thread that ran out of memory, or could not start, fails its task alone: the next starts another.
 *
 *     const worker = createWorker({ program: () => new URL('./thread.ts', import.meta.url), ... });
 *     await worker.run({ name: 'hash', input: text, group: tenant, limitMs: 2_000 });
 */
export function createWorker({ program, heapMb, waitingPerGroup }: WorkerOptions) {
  const slots = createSemaphore({ slots: 1, maxWaitingPerGroup: waitingPerGroup });
  let thread: RunningThread | undefined;
  let isStopped = false;

  async function run({ name, input, group, limitMs }: WorkerTask): Promise<unknown> {
    const limit = AbortSignal.timeout(limitMs);
    try {
      return await slots.run(group, () => perform({ name, input }, limit), limit);
    } catch (error) {
      if (isStopped) throw new WorkerError('stopped', 'the worker has stopped', { cause: error });
      throw asWorkerError(error, { name, limit });
    }
  }

  async function perform(request: ThreadRequest, limit: AbortSignal): Promise<unknown> {
    if (isStopped) throw new Error('the worker has stopped');
    thread ??= startOne();
    const reply = await thread.ask(request, limit).catch(async (error: unknown) => {
      await end();
      throw error;
    });
    if (reply.ok) return reply.value;
    throw new WorkerError('failed', reply.error);
  }

  /** A thread that ends late leaves its successor alone. */
  function startOne(): RunningThread {
    const started = startThread(program(), {
      heapMb,
      onExit: () => {
        if (thread === started) thread = undefined;
      },
    });
    return started;
  }

  async function stop() {
    isStopped = true;
    await end();
  }

  async function end() {
    const ended = thread;
    thread = undefined;
    await ended?.terminate();
  }

  return { run, stop, isRunning: () => thread !== undefined };
}

type RunningThread = ReturnType<typeof startThread>;

type ThreadOptions = { heapMb: number; onExit: () => void };

function startThread(program: ThreadProgram, { heapMb, onExit }: ThreadOptions) {
  const thread = new ThreadConstructor(program, {
    eval: typeof program === 'string',
    execArgv: permissionsFor(program),
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16 },
  });
  // Only a running task keeps the process alive.
  thread.unref();

  async function ask(request: ThreadRequest, limit: AbortSignal): Promise<ThreadReply> {
    const { promise, resolve, reject } = Promise.withResolvers<ThreadReply>();
    const exited = (code: number) => reject(new Error(`the thread ended with ${code}`));
    const late = () => reject(limit.reason);
    thread.once('message', resolve).once('error', reject).once('exit', exited);
    limit.addEventListener('abort', late, { once: true });
    thread.ref();
    try {
      limit.throwIfAborted();
      thread.postMessage(request);
      return await promise;
    } finally {
      thread.unref();
      limit.removeEventListener('abort', late);
      thread.off('message', resolve).off('exit', exited).off('error', reject);
    }
  }

  // Also between tasks: the next one then starts another thread.
  thread.on('error', onExit).on('exit', onExit);
  return { ask, terminate: () => thread.terminate() };
}

/**
 * A thread may compute, and nothing else. Without this it would begin with all that the process was started
 * with, also what the process has given up since. A program in files must still read them.
 */
const permissionsFor = (program: ThreadProgram) =>
  typeof program === 'string' ? ['--permission'] : ['--permission', '--allow-fs-read=*'];

function asWorkerError(error: unknown, { name, limit }: { name: string; limit: AbortSignal }) {
  if (error instanceof WorkerError) return error;
  if (error instanceof TooManyWaiting) return new WorkerError('busy', error.message);
  if (limit.aborted && error === limit.reason) {
    return new WorkerError('timeout', `the task ${name} took too long`);
  }
  return new WorkerError('failed', `the task ${name} failed`, { cause: error });
}
