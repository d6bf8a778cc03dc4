import { Hono } from 'hono';
import manifest from '../../package.json' with { type: 'json' };
import { Refusal, unavailable } from '../errors.ts';
import { cacheWithTtl } from '../lib/async/cache-with-ttl.ts';
import type { Signal } from '../lib/async/deadline.ts';
import type { Db } from '../lib/db/db.ts';
import type { PoolUse } from '../lib/db/fair-pool.ts';
import type { Replica } from '../lib/db/replica.ts';
import {
  answerError,
  type EndedRequest,
  followRequests,
  type RequestEnv,
  requestEnded,
} from '../lib/http/http.ts';
import { httpAddress } from '../lib/http/http-address.ts';
import { type ListenAddress, type Listener, listen } from '../lib/http/listen.ts';
import { answerNoRoute } from '../lib/http/router.ts';
import type { Log } from '../lib/log/log.ts';
import { watchProcess } from '../lib/metrics/process.ts';
import {
  createRecorder,
  type Family,
  type Labels,
  type Measurement,
  observedFamilies,
  type Readings,
  type Recorder,
  traceOf,
} from '../lib/metrics/recorder.ts';
import { type MetricsTools, metricsRoutes } from '../lib/metrics/routes.ts';
import { type Checks, findFailedChecks, type Lifecycle } from '../lib/process/lifecycle.ts';
import type { Jobs } from '../lib/queue/runner.ts';
import { jobRan } from '../lib/queue/task.ts';
import { traceIdOf } from '../lib/tracing/spans.ts';
import type { Config } from '../settings.ts';
import * as signals from '../signals.ts';
import { answered, attempted, deactivated, mailed } from '../signals.ts';
import { by, readDatabase } from './database.ts';
import { instruments, methods, otherMethod, type RecordedName } from './instruments.ts';

const pollEveryMs = 5000;
/** Answers before any scraper times out, with the values known by then. */
const timeoutMs = 1000;

export type Counters = ReturnType<typeof startCounters>;

export function startCounters() {
  const recorder = createRecorder(instruments);
  return { recorder, stop: countSignals(recorder.record) };
}

type Observed = {
  db: Db;
  pool: () => PoolUse;
  replica?: Replica | undefined;
  jobs: Jobs | undefined;
  checks: Checks;
  mailProblem?: (() => unknown) | undefined;
};

function familiesReader({ recorder }: Counters, observed: Observed) {
  const database = cacheWithTtl(() => readDatabase(observed.db), { ttlMs: pollEveryMs, timeoutMs });
  const failing = cacheWithTtl(() => findFailedChecks(observed.checks), { ttlMs: 0, timeoutMs });
  const readings = async (): Promise<Readings> => {
    const [waiting, failed] = await Promise.all([database(), failing()]);
    const isReady = failed !== undefined && Object.keys(failed).length === 0;
    return { ...waiting, ...readProcess(observed), askback_ready: single(Number(isReady)) };
  };
  const processFamilies = watchProcess();
  return async (): Promise<Family[]> => {
    const [recorded, read, ofProcess] = await Promise.all([
      recorder.families(),
      readings(),
      processFamilies(),
    ]);
    return [...recorded, ...observedFamilies(instruments, read), ...ofProcess];
  };
}

/** Reported for a replica that has never caught up. */
const maxLagSeconds = 86_400;

function readProcess({ pool, replica, jobs, mailProblem }: Observed): Readings {
  const { limit, busy, waiting } = pool();
  const runner = jobs?.state();
  const build = { version: manifest.version, node: process.versions.node };
  return {
    askback_runner_up: runner ? single(Number(runner.state === 'running')) : [],
    askback_runner_restarts_total: runner ? single(runner.restarts) : [],
    askback_mail_server_up: jobs ? single(Number(!mailProblem?.())) : [],
    askback_db_pool_connections: by('state', { busy, idle: Math.max(limit - busy, 0) }),
    askback_db_pool_limit: single(limit),
    askback_db_pool_waiting: single(waiting),
    askback_read_replica_up: single(Number(replica?.isUsable() ?? false)),
    askback_read_replica_lag_seconds: single(Math.min(replica?.lagSeconds() ?? 0, maxLagSeconds)),
    askback_build_info: [{ labels: build, value: 1 }],
  };
}

const single = (value: number) => [{ labels: {}, value }];

/** Opens the separate address for metrics, if one is set. It answers "starting" until `serveMetrics`. */
export async function listenForMetrics(
  where: ListenAddress | null,
  { parts, say }: { parts: Lifecycle; say: (sentence: string) => void },
): Promise<Listener | undefined> {
  if (!where) return undefined;
  const take = () =>
    listen(where).catch((error: Error) => {
      if (error instanceof Refusal) throw error;
      const text = `ASKBACK_METRICS_LISTEN: cannot listen on this address (${error.message})`;
      throw unavailable(text);
    });
  const listener = await parts.start('metrics address', take);
  say(`metrics are available on ${httpAddress(listener.host, listener.port)}/metrics`);
  return listener;
}

type ShowMetrics = {
  config: Pick<Config, 'metrics'>;
  log: Log;
  counting: Counters;
  listener: Listener | undefined;
  /** Local callers need no token: no proxy can be in front. */
  trustsLocal: boolean;
};

export async function serveMetrics(
  { config, log, counting, listener, trustsLocal }: ShowMetrics,
  observed: Observed,
): Promise<MetricsTools | undefined> {
  const families = familiesReader(counting, observed);
  const { token } = config.metrics;
  const settings = 'ASKBACK_METRICS_TOKEN or ASKBACK_METRICS_LISTEN';
  const access = { token, ownAddress: listener !== undefined, trustsLocal, settings };
  if (!listener) return { families, access };
  await listener.open(metricsApp(log, { families, access }).fetch);
  return undefined;
}

export function metricsApp(log: Log, tools: MetricsTools) {
  const app = new Hono<RequestEnv>();
  return app
    .use(followRequests)
    .onError(answerError(log, () => undefined))
    .notFound(answerNoRoute(() => app.routes))
    .route('/', metricsRoutes(tools));
}

type Count = Measurement & { name: RecordedName };
type Facts<Of> = Of extends Signal<infer What> ? What : never;

function countSignals(record: Recorder['record']) {
  const ends = (Object.keys(counts) as (keyof typeof counts)[]).map((name) => {
    const toCounts = counts[name] as (facts: unknown) => Count[];
    const source = sources[name] as Signal<unknown>;
    return source.subscribe((facts) => {
      const trace = traceOf((facts as { traceparent?: string | null }).traceparent);
      for (const count of toCounts(facts)) record(count, trace);
    });
  });
  return () => {
    for (const end of ends) end();
  };
}

const sources = { ...signals, requestEnded, jobRan };

export const counts = {
  requestEnded: ({ method, route, status, ms }: EndedRequest) => [
    seconds('http_server_request_duration_seconds', ms, {
      http_request_method: methods.includes(method) ? method : otherMethod,
      http_route: route,
      http_response_status_code: String(status),
    }),
  ],
  jobRan: ({ task, ms, failed }: Facts<typeof jobRan>) => [
    seconds('askback_job_duration_seconds', ms, { task }),
    ...(failed ? [one('askback_job_failures_total', { task })] : []),
  ],
  attempted: ({ event, outcome, ms, sinceMs }: Facts<typeof signals.attempted>) =>
    attempt('webhook', { outcome, ms, sinceMs: event === 'webhook.test' ? null : sinceMs }),
  mailed: ({ outcome, ms, sinceMs }: Facts<typeof signals.mailed>) =>
    attempt('mail', { outcome: outcome === 'sent' ? 'delivered' : outcome, ms, sinceMs }),
  skipped: ({ deliveries }: Facts<typeof signals.skipped>) => [
    {
      ...one('askback_deliveries_total', { channel: 'webhook', outcome: 'skipped' }),
      value: deliveries,
    },
  ],
  emitted: ({ event }: Facts<typeof signals.emitted>) => [one('askback_events_total', { event })],
  deactivated: () => [one('askback_webhook_deactivations_total', {})],
  sendAnswered: ({ results }: Facts<typeof signals.sendAnswered>) =>
    results.map(({ status, reason_code: reason = '' }) =>
      one('askback_mails_total', { status, reason }),
    ),
  answered: ({ type, category, held, events }: Facts<typeof signals.answered>) =>
    held === null
      ? [
          one('askback_answers_total', { type, category }),
          ...events.map((event) => one('askback_events_total', { event })),
        ]
      : [one('askback_answers_held_total', { reason: held })],
  rateLimited: ({ by }: Facts<typeof signals.rateLimited>) => [
    one('askback_rate_limited_total', { by }),
  ],
} satisfies { [Name in keyof typeof sources]: (facts: Facts<(typeof sources)[Name]>) => Count[] };

/**
 * The last attempt also counts as the end of its delivery, except for test events (`sinceMs` null). A delivery that
 * ended without an attempt (`ms` null) counts only as an end.
 */
function attempt(
  channel: 'webhook' | 'mail',
  { outcome, ms, sinceMs }: { outcome: string; ms: number | null; sinceMs: number | null },
): Count[] {
  const tried =
    ms === null
      ? []
      : [
          one('askback_delivery_attempts_total', { channel, outcome }),
          seconds('askback_delivery_attempt_duration_seconds', ms, { channel }),
        ];
  if (outcome === 'retry' || sinceMs === null) return tried;
  return [
    ...tried,
    one('askback_deliveries_total', { channel, outcome }),
    seconds('askback_delivery_duration_seconds', sinceMs, { channel }),
  ];
}

const one = (name: RecordedName, labels: Labels): Count => ({ name, labels });

const seconds = (name: RecordedName, ms: number, labels: Labels): Count => ({
  name,
  labels,
  value: ms / 1000,
});

const probes = new Set(['/healthz', '/readyz', '/metrics']);

export function writeLines(log: Log): () => void {
  const ends = [
    requestEnded.subscribe(({ method, route, status, ms, requestId, tenant, traceparent }) => {
      const result = { method, route, status, ms: Math.round(ms) };
      const ids = { request_id: requestId, org_id: tenant, trace_id: traceIdOf(traceparent) };
      log[probes.has(route) ? 'debug' : 'info']({ ...result, ...ids }, 'request');
    }),
    attempted.subscribe(({ statusCode, deliveryId, ms, traceparent, ...signal }) => {
      const { event, attempt, outcome, error } = signal;
      const result = { event, attempt, outcome, status: statusCode, error, ms: Math.round(ms) };
      const ids = { delivery_id: deliveryId, webhook_id: signal.webhookId, org_id: signal.orgId };
      log.info({ ...result, ...ids, trace_id: traceIdOf(traceparent) }, 'delivery');
    }),
    mailed.subscribe(({ attempt, outcome, ms, traceparent, ...signal }) => {
      const ids = { send_id: signal.sendId, survey_id: signal.surveyId, org_id: signal.orgId };
      const result = { attempt, outcome, ms: ms === null ? null : Math.round(ms) };
      log.info({ ...result, ...ids, trace_id: traceIdOf(traceparent) }, 'mail');
    }),
    answered.subscribe(({ type, category, held, traceparent, ...signal }) => {
      const ids = {
        response_id: signal.responseId,
        survey_id: signal.surveyId,
        org_id: signal.orgId,
      };
      log.debug({ type, category, held, ...ids, trace_id: traceIdOf(traceparent) }, 'answer');
    }),
    deactivated.subscribe(({ orgId, webhookId }) => {
      log.warn({ webhook_id: webhookId, org_id: orgId }, 'webhook turned off');
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
