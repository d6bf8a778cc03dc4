import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../db/db.ts';
import type { StepWork } from '../db/migrate-step.ts';
import { beginStep, recordFailure, runAtOnce, runBatch, tookTooLong } from '../db/migrate-step.ts';
import type { MigrationStep } from '../db/migrate-step-files.ts';
import type { Log } from '../log/log.ts';
import type { QueueAddress } from '../queue/connections.ts';
import { nextSize, pauseAfter, smallestSize } from './pace.rules.ts';
import { openStepSession, type StepLease } from './step-session.ts';

/** Between two looks: at the lease of another process, at a database that is away, at a step that failed. */
const lookEveryMs = 1000;

type StepOptions = {
  address: QueueAddress;
  log: Log;
  steps: readonly MigrationStep[];
  /** Version, machine and process, for the row of a step. */
  worker: string;
  /** The program's name, which its connection has in Postgres. */
  program: string;
};

export type StepWorker = {
  /** Resolves when no step of this program is left, or it was stopped. */
  ended: Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Does what migrations have left to be done over filled tables: one process at a time, one step after the other, in
 * batches with pauses. It ends when there is nothing left.
 */
export function startStepWorker(options: StepOptions): StepWorker {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ended = (async () => {
    while (!signal.aborted) {
      const isOver = await workOnce(options, signal).catch((error: unknown) => {
        options.log.debug({ err: error }, 'steps of a migration are interrupted');
        return false;
      });
      if (isOver) return;
      await pause(lookEveryMs, signal);
    }
  })();
  return {
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** As long as its connection lasts; says whether nothing is left. */
async function workOnce(options: StepOptions, signal: AbortSignal): Promise<boolean> {
  const { address, program, worker } = options;
  const lease = await openStepSession(address, program);
  try {
    let isHeld = false;
    while (!signal.aborted) {
      const next = await findNext(lease, options.steps);
      if (next === undefined) return true;
      isHeld = isHeld || (await lease.take());
      if (isHeld && next.isDue) {
        await tryStep({ session: lease.session, worker }, { ...options, lease, signal }, next.step);
      } else {
        await pause(lookEveryMs, signal);
      }
    }
    return false;
  } finally {
    await lease.end();
  }
}

/** The first step that has not ended. Of steps with another text than ours another version takes care. */
async function findNext({ session }: StepLease, steps: readonly MigrationStep[]) {
  const rows = await session<{ name: string; sha256: string; is_due: boolean }>(
    `select name, sha256, coalesce(retry_at <= clock_timestamp(), true) as is_due
     from migration_steps
     where ended_at is null
     order by name`,
  );
  for (const { name, sha256, is_due } of rows) {
    const step = steps.find((known) => known.name === name && known.sha256 === sha256);
    if (step) return { step, isDue: is_due };
  }
  return undefined;
}

type Trying = Pick<StepOptions, 'log'> & { lease: StepLease; signal: AbortSignal };

/** A failure is kept with the step, and nothing else fails with it. */
async function tryStep(work: StepWork, { log, lease, signal }: Trying, step: MigrationStep) {
  const { name } = step;
  try {
    log.info({ task: name }, 'a step of a migration goes on');
    await beginStep(work, step);
    if (step.kind === 'batches') await runBatches(work, step, signal);
    else await runUnlessStopped(work, { lease, signal }, step);
    if (!signal.aborted) log.info({ task: name }, 'a step of a migration ended');
  } catch (error) {
    if (isDatabaseAway(error) || lease.isLost() || signal.aborted) throw error;
    log.warn({ task: name, err: error }, 'a step of a migration failed and is tried again');
    await recordFailure(work, step, error);
  }
}

/** An index may take hours: a process that stops gives it up, and the next one begins it again. */
async function runUnlessStopped(
  work: StepWork,
  { lease, signal }: Omit<Trying, 'log'>,
  step: Exclude<MigrationStep, { kind: 'batches' }>,
) {
  const giveUp = () => void lease.end();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await runAtOnce(work, step);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** So many rows at a time that answers do not wait for them, and as much rest between as keeps Postgres free. */
async function runBatches(
  work: StepWork,
  step: Extract<MigrationStep, { kind: 'batches' }>,
  signal: AbortSignal,
) {
  let size = smallestSize;
  while (!signal.aborted) {
    const begun = performance.now();
    const outcome = await runBatch(work, step, size).catch((error: unknown) => {
      if (tookTooLong(error) && size > smallestSize) return 'too long' as const;
      throw error;
    });
    if (outcome === 'ended' || outcome === 'taken') return;
    const ms = performance.now() - begun;
    size = outcome === 'too long' ? Math.floor(size / 2) : nextSize(size, ms);
    await pause(pauseAfter(ms), signal);
  }
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {}); // stopped
