import { Hono } from 'hono';
import { answerError, followRequests, type RequestEnv } from '../lib/http/http.ts';
import { answerNoRoute } from '../lib/http/methods.ts';
import type { Log } from '../lib/log/log.ts';
import { type MetricsTools, metricsRoutes } from '../lib/metrics/routes.ts';
import type { Checks } from '../lib/process/checks.ts';
import { healthRoutes } from './health.ts';

type JobsAppTools = {
  log: Log;
  checks: Checks;
  warnings: Checks;
  metrics?: MetricsTools | undefined;
};

/** What a process with the role jobs answers: how it is, and no request that another process is there for. */
export function createJobsApp({ log, checks, warnings, metrics }: JobsAppTools) {
  const app = new Hono<RequestEnv>();
  return app
    .use(followRequests)
    .onError(answerError(log, () => undefined))
    .notFound(answerNoRoute(() => app.routes))
    .route('/', healthRoutes(checks, warnings))
    .route('/', metrics ? metricsRoutes(metrics) : new Hono());
}
