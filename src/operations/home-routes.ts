import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { isLocalRequest } from '../lib/http/local.ts';
import { showPage } from '../web/show.ts';
import { wantsJson } from '../web/wants-json.ts';
import { homePage } from './home-page.tsx';
import { drawIcon } from './icon.ts';

type HomeTools = {
  publicUrl: string;
  mailbox: boolean;
  settings: { securityContact?: string | null };
};

const oneDay = 'public, max-age=86400';
const validDays = 30;
const dayMs = 86_400_000;

/** Survey links are personal: no crawler has anything to read but the front page. */
const robots = 'User-agent: *\nAllow: /$\nDisallow: /\n';

/** What browsers, crawlers and visitors ask for at the address of the service itself. */
export function homeRoutes({ publicUrl, mailbox, settings }: HomeTools) {
  const icon = drawIcon();
  return new Hono()
    .get('/', (c) => {
      if (!wantsJson(c)) {
        return showPage(c, homePage({ showsMailbox: mailbox && isLocalRequest(c) }));
      }
      return c.json({
        service: 'askback',
        docs: `${publicUrl}/docs`,
        openapi: `${publicUrl}/openapi.json`,
      });
    })
    .get('/docs/', (c) => c.redirect('/docs', 301))
    .get('/favicon.ico', (c) =>
      c.body(icon, 200, { 'Content-Type': 'image/x-icon', 'Cache-Control': oneDay }),
    )
    .get('/robots.txt', (c) => c.text(robots, 200, { 'Cache-Control': oneDay }))
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
