import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { enqueue, type NewJob } from '../../../src/jobs.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { holdLease } from '../../../src/lib/queue/lease.ts';
import { type JobsOptions, startJobs } from '../../../src/lib/queue/runner.ts';
import type { JobRun, Task } from '../../../src/lib/queue/task.ts';

/** Runs the jobs of one process until the test ends. */
export async function workOn(
  t: TestContext,
  options: Pick<JobsOptions, 'url' | 'tasks'> & Partial<JobsOptions>,
) {
  const log = createLog({ level: 'silent' });
  const lease = await holdLease(options, log, 'askback');
  const jobs = await startJobs({ log, lease, concurrency: 100, ...options });
  const stop = async () => {
    await jobs.stop();
    await lease.stop();
  };
  t.after(stop);
  return { ...jobs, stop };
}

const patienceMs = 60_000;

type Run = { payload: Record<string, unknown>; job: JobRun; at: number };

/** A task that records its runs and calls the test during each. */
export function recordingTask(meanwhile: (run: Run) => unknown = () => {}) {
  const runs: Run[] = [];
  const waiting: { id: string; count: number; resolve: (run: Run) => void }[] = [];
  const of = (id: string) => runs.filter(({ payload }) => payload['webhook_id'] === id);

  const task: Task = async (payload, job) => {
    const run = { payload: payload as Run['payload'], job, at: Date.now() };
    runs.push(run);
    for (const { id, count, resolve } of waiting) {
      if (of(id).length >= count) resolve(of(id)[count - 1]!);
    }
    await meanwhile(run);
  };
  return {
    task,
    of,
    /** Resolves when the job starts for the nth time. */
    start(id: string, count = 1): Promise<Run> {
      const { promise, resolve, reject } = Promise.withResolvers<Run>();
      setTimeout(() => reject(new Error(`job ${id} was not started`)), patienceMs).unref();
      waiting.push({ id, count, resolve });
      const already = of(id)[count - 1];
      if (already) resolve(already);
      return promise;
    },
  };
}

/**
 * A job with its own name, so that a test can tell it from others in the queue. A test whose task looks at the name
 * chooses it beforehand, because the job may start before this function returns.
 */
export async function enqueueDelivery(
  db: Db,
  over: Omit<Extract<NewJob, { task: 'webhooks.deliver' }>, 'task' | 'payload'> = {},
  id = randomUUID() as string,
) {
  const payload = { org_id: randomUUID(), webhook_id: id };
  await enqueue(db, [{ task: 'webhooks.deliver', payload, ...over }]);
  return id;
}

export type Worker = { started: (id: string) => Promise<void>; kill: () => Promise<void> };

/** Another process on the same queue that never finishes its jobs. */
export async function workerProcess(t: TestContext, url: string, cwd = '.'): Promise<Worker> {
  const script = new URL('../processes/worker-process.ts', import.meta.url);
  const child = fork(script, [url], { execArgv: [], cwd });
  t.after(() => child.kill('SIGKILL'));
  const started = new Set<string>();
  child.on('message', (id: string) => started.add(id));
  await message(child, () => started.has('ready'));

  return {
    started: (id) => message(child, () => started.has(id)),
    async kill() {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function message(child: ChildProcess, seen: () => boolean) {
  const exit = once(child, 'exit');
  while (!seen()) {
    const event = await Promise.race([once(child, 'message'), exit.then(() => 'exit')]);
    if (event === 'exit') throw new Error('the worker process ended');
  }
}
