import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { homePath } from '../sessions/home.ts';
import type { SessionTools } from '../sessions/session.ts';
import { wantsJson } from '../web/wants-json.ts';
import { drawIcon } from './icon.ts';

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
