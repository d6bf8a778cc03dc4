import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { answerError, followRequests, type RequestEnv } from '../lib/http/http.ts';
import { answerNoRoute } from '../lib/http/router.ts';
import type { Log } from '../lib/log/log.ts';
import { type MetricsTools, metricsRoutes } from '../lib/metrics/routes.ts';
import type { Checks } from '../lib/process/lifecycle.ts';
import { homePath, type SessionTools } from '../sessions/session.ts';
import { wantsJson } from '../web/headers.ts';
import { healthRoutes } from './health.ts';

type HomeTools = SessionTools & {
  settings: { securityContact?: string | null };
};

const oneDay = 'public, max-age=86400';
const validDays = 30;
const dayMs = 86_400_000;

/** Survey links are personal, so crawlers may only read the front page. */
const robots = 'User-agent: *\nAllow: /$\nDisallow: /\n';

export function homeRoutes(tools: HomeTools) {
  const { publicUrl, settings } = tools;
  return new Hono()
    .get('/', async (c) => {
      if (!wantsJson(c)) return c.redirect(await homePath(c, tools), 303);
      return c.json({
        service: 'askback',
        docs: `${publicUrl}/docs`,
        openapi: `${publicUrl}/openapi.json`,
      });
    })
    .get('/favicon.ico', (c) =>
      c.body(new Uint8Array(icon), 200, {
        'Content-Type': 'image/x-icon',
        'Cache-Control': oneDay,
      }),
    )
    .get('/robots.txt', (c) => c.text(robots, 200, { 'Cache-Control': oneDay }))
    .get('/.well-known/change-password', (c) => c.redirect('/account', 303))
    .get('/.well-known/security.txt', (c) => {
      if (!settings.securityContact) throw notFound('path');
      return c.text(securityText(settings.securityContact, publicUrl));
    });
}

/** RFC 9116 requires an expiry date. */
function securityText(contact: string, publicUrl: string): string {
  const expires = new Date(Date.now() + validDays * dayMs).toISOString();
  const canonical = `${publicUrl}/.well-known/security.txt`;
  return `Contact: ${contact}\nExpires: ${expires}\nCanonical: ${canonical}\n`;
}

/** A square with cut corners, as PNG in ICO. */
const icon = Buffer.from(
  'AAABAAEAEBAAAAEAIABqAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAQAAAAEAEDAAAAJT1tIgAAAAZQTFRF' +
    'AAAASlVoXM/xogAAAAF0Uk5TAEDm2GYAAAASSURBVHjaY6j/x/D/P7Go/h8A5J8e390+zz0AAAAASUVORK5CYII=',
  'base64',
);

type JobsAppTools = {
  log: Log;
  checks: Checks;
  warnings: Checks;
  metrics?: MetricsTools | undefined;
};

/** A process with the role jobs serves health and metrics only. */
export function createJobsApp({ log, checks, warnings, metrics }: JobsAppTools) {
  const app = new Hono<RequestEnv>();
  return app
    .use(followRequests)
    .onError(answerError(log, () => undefined))
    .notFound(answerNoRoute(() => app.routes))
    .route('/', healthRoutes(checks, warnings))
    .route('/', metrics ? metricsRoutes(metrics) : new Hono());
}
