import { Hono } from 'hono';
import manifest from '../../package.json' with { type: 'json' };
import { Refusal } from '../errors.ts';
import { cachedFor } from '../lib/async/cached-for.ts';
import type { Db } from '../lib/db/db.ts';
import type { PoolUse } from '../lib/db/fair-pool.ts';
import type { Replica } from '../lib/db/replica.ts';
import { answerError, followRequests, type RequestEnv } from '../lib/http/http.ts';
import { httpAddress } from '../lib/http/http-address.ts';
import { type ListenAddress, type Listener, listen } from '../lib/http/listen.ts';
import { answerNoRoute } from '../lib/http/methods.ts';
import type { Log } from '../lib/log/log.ts';
import { createMeterRecorder, observeFor, openMeter } from '../lib/metrics/otlp.ts';
import { watchProcess } from '../lib/metrics/process.ts';
import {
  createRecorder,
  type Family,
  observedFamilies,
  type Readings,
} from '../lib/metrics/recorder.ts';
import { type MetricsTools, metricsRoutes } from '../lib/metrics/routes.ts';
import { type Checks, failedChecks } from '../lib/process/checks.ts';
import type { Lifecycle } from '../lib/process/lifecycle.ts';
import type { Jobs } from '../lib/queue/runner.ts';
import type { Config } from '../settings/config.ts';
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
  /** None in a process that only answers requests. */
  jobs: Jobs | undefined;
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

function readProcess({ pool, replica, jobs, build }: Observed): Readings {
  const { limit, busy, waiting } = pool();
  const runner = jobs?.state();
  return {
    askback_runner_up: runner ? [{ labels: {}, value: runner.state === 'running' ? 1 : 0 }] : [],
    askback_runner_restarts_total: runner ? [{ labels: {}, value: runner.restarts }] : [],
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

/** Listens on the address of metrics alone, if there is one; until it is opened it answers "starting". */
export async function takeMetricsAddress(
  where: ListenAddress | null,
  { parts, say }: { parts: Lifecycle; say: (sentence: string) => void },
): Promise<Listener | undefined> {
  if (!where) return undefined;
  const take = () =>
    listen(where).catch((error: Error) => {
      if (error instanceof Refusal) throw error;
      const why = `askback cannot listen there (${error.message})`;
      throw new Refusal('unavailable', `ASKBACK_METRICS_LISTEN: ${why}`);
    });
  const listener = await parts.start('metrics address', take, (it) => it.close());
  say(`metrics are shown on ${httpAddress(listener.host, listener.port)}/metrics`);
  return listener;
}

type ShowMetrics = {
  config: Pick<Config, 'metrics'>;
  parts: Lifecycle;
  log: Log;
  counting: Counting;
  listener: Listener | undefined;
  /** Local callers need no token: no proxy can be in front. */
  trustsLocal: boolean;
};

/** Shows metrics on their own address, or returns what shows them on the main one. */
export async function showMetrics(
  { config, parts, log, counting, listener, trustsLocal }: ShowMetrics,
  observed: Omit<Observed, 'build'>,
): Promise<MetricsTools | undefined> {
  const build = { version: manifest.version, node: process.versions.node };
  const { families } = await parts.start(
    'metrics',
    () => startMetrics(counting, { ...observed, build }),
    (it) => it.stop(),
  );
  const { token } = config.metrics;
  const settings = 'ASKBACK_METRICS_TOKEN or ASKBACK_METRICS_LISTEN';
  const access = { token, ownAddress: listener !== undefined, trustsLocal, settings };
  if (!listener) return { families, access };
  await listener.open(metricsApp(log, { families, access }).fetch);
  return undefined;
}

/** The application at the address of metrics alone. */
export function metricsApp(log: Log, tools: MetricsTools) {
  const app = new Hono<RequestEnv>();
  return app
    .use(followRequests)
    .onError(answerError(log, () => undefined))
    .notFound(answerNoRoute(() => app.routes))
    .route('/', metricsRoutes(tools));
}
