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

/** Survey links are personal: no crawler has anything to read but the front page. */
const robots = 'User-agent: *\nAllow: /$\nDisallow: /\n';

/** What browsers, crawlers and visitors ask for at the address of the service itself. */
export function homeRoutes(tools: HomeTools) {
  const { publicUrl, settings } = tools;
  const icon = drawIcon();
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
      c.body(icon, 200, { 'Content-Type': 'image/x-icon', 'Cache-Control': oneDay }),
    )
    .get('/robots.txt', (c) => c.text(robots, 200, { 'Cache-Control': oneDay }))
    .get('/.well-known/change-password', (c) => c.redirect('/account', 303))
    .get('/.well-known/security.txt', (c) => {
      if (!settings.securityContact) throw notFound('path');
      return c.text(securityText(settings.securityContact, publicUrl));
    });
}

/** RFC 9116 asks for a date until which the contact is valid. */
function securityText(contact: string, publicUrl: string): string {
  const expires = new Date(Date.now() + validDays * dayMs).toISOString();
  const canonical = `${publicUrl}/.well-known/security.txt`;
  return `Contact: ${contact}\nExpires: ${expires}\nCanonical: ${canonical}\n`;
}

const size = 16;
const color = { red: 0x4a, green: 0x55, blue: 0x68 };
const headerBytes = 22;
const bitmapHeaderBytes = 40;
const pixelBytes = size * size * 4;
const maskBytes = size * 4;

/** A square with cut corners as `/favicon.ico`, in the form that every browser reads. */
function drawIcon(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(headerBytes + bitmapHeaderBytes + pixelBytes + maskBytes);
  const view = new DataView(bytes.buffer);
  view.setUint16(2, 1, true); // an icon
  view.setUint16(4, 1, true); // one picture
  bytes.set([size, size], 6);
  view.setUint16(10, 1, true); // planes
  view.setUint16(12, 32, true); // bits of a pixel
  view.setUint32(14, bitmapHeaderBytes + pixelBytes + maskBytes, true);
  view.setUint32(18, headerBytes, true);
  view.setUint32(headerBytes, bitmapHeaderBytes, true);
  view.setInt32(headerBytes + 4, size, true);
  view.setInt32(headerBytes + 8, size * 2, true); // the picture and its mask
  view.setUint16(headerBytes + 12, 1, true);
  view.setUint16(headerBytes + 14, 32, true);
  for (let pixel = 0; pixel < size * size; pixel++) {
    const [row, column] = [Math.floor(pixel / size), pixel % size];
    const isCorner = [row, column].every((at) => at === 0 || at === size - 1);
    const alpha = isCorner ? 0 : 255;
    bytes.set(
      [color.blue, color.green, color.red, alpha],
      headerBytes + bitmapHeaderBytes + pixel * 4,
    );
  }
  return bytes;
}

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
