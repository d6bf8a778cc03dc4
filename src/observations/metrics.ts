import { cachedFor } from '../lib/async/cached-for.ts';
import type { Db } from '../lib/db/db.ts';
import type { PoolUse } from '../lib/db/pool-use.ts';
import type { Replica } from '../lib/db/replica.ts';
import type { Family } from '../lib/metrics/exposition.ts';
import type { Readings } from '../lib/metrics/instrument.ts';
import { observedFamilies } from '../lib/metrics/observed.ts';
import { createMeterRecorder, observeFor, openMeter } from '../lib/metrics/otlp.ts';
import { watchProcess } from '../lib/metrics/process.ts';
import { createRecorder } from '../lib/metrics/recorder.ts';
import { type Checks, failedChecks } from '../lib/process/checks.ts';
import type { Jobs } from '../lib/queue/start.ts';
import { countSignals } from './count.ts';
import { by, readDatabase } from './database.ts';
import { instruments } from './instruments.ts';

const scope = 'askback';
const lookEveryMs = 5000;
/** A request for metrics is answered with what is known by then: less than any scraper waits. */
const patienceMs = 1000;

export type Counting = ReturnType<typeof startCounting>;

/** Counts every signal from now on. With an exporter of OpenTelemetry it is recorded there as well. */
export function startCounting() {
  const recorder = createRecorder(instruments);
  const meter = openMeter(scope);
  const alsoRecord = meter && createMeterRecorder(meter, instruments);
  const stop = countSignals((measurement, trace) => {
    recorder.record(measurement, trace);
    alsoRecord?.(measurement);
  });
  return { recorder, meter, stop };
}

export type Observed = {
  db: Db;
  pool: () => PoolUse;
  replica?: Replica | undefined;
  runners: Jobs['state'];
  checks: Checks;
  build: { version: string; node: string };
};

export type Metrics = { families: () => Promise<Family[]>; stop: () => void };

/** All instruments, as of now: what was counted, and what is read from the database and the process. */
export function startMetrics({ recorder, meter }: Counting, observed: Observed): Metrics {
  const database = cachedFor(() => readDatabase(observed.db), {
    everyMs: lookEveryMs,
    patienceMs,
  });
  const failing = cachedFor(() => failedChecks(observed.checks), { everyMs: 0, patienceMs });
  const readings = async (): Promise<Readings> => {
    const [waiting, found] = await Promise.all([database(), failing()]);
    const ready = found !== undefined && Object.keys(found).length === 0;
    const askback_ready = [{ labels: {}, value: ready ? 1 : 0 }];
    return { ...waiting, ...readProcess(observed), askback_ready };
  };
  const processFamilies = watchProcess();
  return {
    async families() {
      const [recorded, read, ofProcess] = await Promise.all([
        recorder.families(),
        readings(),
        processFamilies(),
      ]);
      return [...recorded, ...observedFamilies(instruments, read), ...ofProcess];
    },
    stop: meter ? observeFor(meter, instruments, readings) : () => {},
  };
}

/** Shown for a replica that has never been seen to follow. */
const longestLagSeconds = 86_400;

function readProcess({ pool, replica, runners, build }: Observed): Readings {
  const { limit, busy, waiting } = pool();
  const states = Object.entries(runners());
  return {
    askback_runner_up: by(
      'runner',
      pick(states, ({ state }) => (state === 'running' ? 1 : 0)),
    ),
    askback_runner_restarts_total: by(
      'runner',
      pick(states, ({ restarts }) => restarts),
    ),
    askback_db_pool_connections: by('state', { busy, idle: Math.max(limit - busy, 0) }),
    askback_db_pool_limit: [{ labels: {}, value: limit }],
    askback_db_pool_waiting: [{ labels: {}, value: waiting }],
    askback_read_replica_up: [{ labels: {}, value: replica?.isUsable() ? 1 : 0 }],
    askback_read_replica_lag_seconds: [
      { labels: {}, value: Math.min(replica?.lagSeconds() ?? 0, longestLagSeconds) },
    ],
    askback_build_info: [{ labels: build, value: 1 }],
  };
}

type RunnerState = NonNullable<ReturnType<Jobs['state']>[keyof ReturnType<Jobs['state']>]>;

const pick = (states: [string, RunnerState][], value: (state: RunnerState) => number) =>
  Object.fromEntries(states.map(([runner, state]) => [runner, value(state)]));
