import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { findLogo } from './change.queries.ts';

const yearSeconds = 31_536_000;
const soonSeconds = 300;

/**
 * `/logos/:id/:name`, for pages and mails. The name holds a hash of the picture, so that browsers may keep it; a mail
 * that went out before the logo was changed shows the present one.
 */
export const logoPages = ({ db }: { db: Db }) =>
  new Hono().get('/:id/:name', async (c) => {
    const { id, name } = c.req.param();
    const logo = isUuid(id) ? await findLogo(db, id) : undefined;
    if (!logo) throw notFound('logo');
    const keep =
      logo.name === name
        ? `public, max-age=${yearSeconds}, immutable`
        : `public, max-age=${soonSeconds}`;
    return c.body(new Uint8Array(logo.bytes), 200, {
      'Content-Type': logo.type,
      'Cache-Control': keep,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    });
  });
