import { Hono } from 'hono';
import manifest from '../../package.json' with { type: 'json' };
import { Refusal } from '../errors.ts';
import { answerError, followRequests, type RequestEnv } from '../lib/http/http.ts';
import { httpAddress } from '../lib/http/http-address.ts';
import { type ListenAddress, type Listener, listen } from '../lib/http/listen.ts';
import { answerNoRoute } from '../lib/http/methods.ts';
import type { Log } from '../lib/log/log.ts';
import { type MetricsTools, metricsRoutes } from '../lib/metrics/routes.ts';
import type { Lifecycle } from '../lib/process/lifecycle.ts';
import type { Config } from '../settings/config.ts';
import { type Counting, type Observed, startMetrics } from './metrics.ts';

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
  /** Whether local callers need no token: no proxy can be in front. */
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
