import { Hono } from 'hono';
import manifest from '../../package.json' with { type: 'json' };
import { Refusal } from '../errors.ts';
import { answerError, followRequests, type RequestEnv } from '../lib/http/http.ts';
import { httpAddress } from '../lib/http/http-address.ts';
import { type Door, listen, type Where } from '../lib/http/listen.ts';
import { answerNoRoute } from '../lib/http/methods.ts';
import type { Log } from '../lib/log/log.ts';
import { type MetricsTools, metricsRoutes } from '../lib/metrics/routes.ts';
import type { Lifecycle } from '../lib/process/lifecycle.ts';
import type { Config } from '../settings/config.ts';
import { type Counting, type Observed, startMetrics } from './metrics.ts';

type Settings = Pick<Config, 'metrics'>;

/** Takes the address of metrics alone, if there is one; until it is opened it says "starting". */
export async function takeMetricsAddress(
  where: Where | null,
  { parts, say }: { parts: Lifecycle; say: (sentence: string) => void },
): Promise<Door | undefined> {
  if (!where) return undefined;
  const take = () =>
    listen(where).catch((error: Error) => {
      if (error instanceof Refusal) throw error;
      const why = `askback cannot listen there (${error.message})`;
      throw new Refusal('unavailable', `ASKBACK_METRICS_LISTEN: ${why}`);
    });
  const door = await parts.start('metrics address', take, (it) => it.close());
  say(`metrics are shown on ${httpAddress(door.host, door.port)}/metrics`);
  return door;
}

type Show = {
  config: Settings;
  parts: Lifecycle;
  log: Log;
  counting: Counting;
  door: Door | undefined;
};

/** Shows metrics on their own address; gives back what shows them on the main one, if there is no other. */
export async function showMetrics(
  { config, parts, log, counting, door }: Show,
  observed: Omit<Observed, 'build'>,
): Promise<MetricsTools | undefined> {
  const build = { version: manifest.version, node: process.versions.node };
  const { families } = await parts.start(
    'metrics',
    () => startMetrics(counting, { ...observed, build }),
    (it) => it.stop(),
  );
  const { token } = config.metrics;
  if (!door) return { families, access: { token, ownAddress: false } };
  await door.open(metricsApp(log, { families, access: { token, ownAddress: true } }).fetch);
  return undefined;
}

/** What is at the address of their own: the metrics and nothing else. */
export function metricsApp(log: Log, tools: MetricsTools) {
  const app = new Hono<RequestEnv>();
  return app
    .use(followRequests)
    .onError(answerError(log, () => undefined))
    .notFound(answerNoRoute(() => app.routes))
    .route('/', metricsRoutes(tools));
}
