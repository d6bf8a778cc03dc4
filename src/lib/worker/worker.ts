import { Worker as Thread } from 'node:worker_threads';
import { createSemaphore } from '../async/semaphore.ts';
import type { ThreadReply, ThreadRequest } from './thread.ts';

// Saved at startup, because `restrictToNetwork` removes the constructor for all other code.
const ThreadConstructor = Thread;

/** A file of the checkout, or source text from the executable. */
export type ThreadProgram = URL | string;

export type WorkerOptions = {
  program: () => ThreadProgram;
  heapMb: number;
};

type WorkerTask = { name: string; input: unknown; group: string; limitMs: number };

export class WorkerError extends Error {
  /** `busy`: the limit passed before the task started. */
  readonly kind: 'busy' | 'timeout' | 'stopped' | 'failed';

  constructor(kind: WorkerError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export type Worker = ReturnType<typeof createWorker>;

/**
 * Runs tasks one after the other in a thread, which starts with the first task. A task fails when it exceeds its limit,
 * which includes the wait for earlier tasks. If it was running, its thread is terminated. A thread that crashes fails
 * only its task, and the next task starts another thread.
 *
 *     const worker = createWorker({ program: () => new URL('./thread.ts', import.meta.url), ... });
 *     await worker.run({ name: 'hash', input: text, group: tenant, limitMs: 2_000 });
 */
export function createWorker({ program, heapMb }: WorkerOptions) {
  const slots = createSemaphore({ slots: 1 });
  let thread: RunningThread | undefined;
  let isStopped = false;

  async function run({ name, input, group, limitMs }: WorkerTask): Promise<unknown> {
    const limit = AbortSignal.timeout(limitMs);
    let hasStarted = false;
    const start = () => {
      hasStarted = true;
      return perform({ name, input }, limit);
    };
    try {
      return await slots.run(group, start, limit);
    } catch (error) {
      if (isStopped) throw new WorkerError('stopped', 'the worker has stopped', { cause: error });
      throw asWorkerError(error, { name, limit, late: hasStarted ? 'timeout' : 'busy' });
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

  /** A thread that exits late must not clear its successor. */
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
    const stopped = thread;
    thread = undefined;
    await stopped?.terminate();
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
  thread.unref(); // only a running task keeps the process alive

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

  thread.on('error', onExit).on('exit', onExit);
  return { ask, terminate: () => thread.terminate() };
}

/**
 * A thread starts with the original permissions of the process, even after the process has dropped them. `--permission`
 * removes them. A program in a checkout must read its files.
 */
const permissionsFor = (program: ThreadProgram) =>
  typeof program === 'string' ? ['--permission'] : ['--permission', '--allow-fs-read=*'];

type Failure = { name: string; limit: AbortSignal; late: 'busy' | 'timeout' };

function asWorkerError(error: unknown, { name, limit, late }: Failure) {
  if (error instanceof WorkerError) return error;
  if (limit.aborted && error === limit.reason) {
    return new WorkerError(late, `the task ${name} took too long`);
  }
  return new WorkerError('failed', `the task ${name} failed`, { cause: error });
}
