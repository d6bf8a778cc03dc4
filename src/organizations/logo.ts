import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { type PictureHeader, readPictureHeader } from '../lib/pictures/picture-header.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { deleteLogo, findLogo, type NamedLogo, saveLogo } from './queries.ts';

const yearSeconds = 31_536_000;
const soonSeconds = 300;

/**
 * `/logos/:id/:name`, for pages and mails. The name contains a hash, so that browsers can cache the picture. Earlier
 * mails show the current logo.
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

/** Validates an uploaded logo and names it by its hash. */
export function readLogo(bytes: Uint8Array): NamedLogo {
  if (bytes.length > maxLogoBytes) throw invalid('must have at most 256 KiB');
  const header = readPictureHeader(bytes);
  if (!header) throw invalid('must be a PNG, JPEG or WebP');
  const sides = [header.width, header.height];
  if (Math.max(...sides) > maxSide)
    throw invalid(`must be at most ${maxSide} pixels wide and high`);
  if (Math.min(...sides) < minSide)
    throw invalid(`must be at least ${minSide} pixels wide and high`);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { name: `${hash}.${endings[header.type]}`, picture: { ...header, bytes } };
}

const invalid = (complaint: string) =>
  new Refusal('invalid', `the logo ${complaint}`, { code: 'invalid_logo' });

export async function replaceLogo(tx: Sql, writer: Writer, logo: NamedLogo | null) {
  const target = { kind: 'organization', id: writer.orgId };
  if (logo) {
    await saveLogo(tx, writer.orgId, logo);
    const { width, height } = logo.picture;
    await recordAct(tx, { ...writer, act: 'logo.changed', target, details: { width, height } });
  } else if (await deleteLogo(tx, writer.orgId)) {
    await recordAct(tx, { ...writer, act: 'logo.removed', target });
  }
}

export const maxLogoBytes = 256 * 1024;

/** Guards browsers against small files that decompress into huge pictures. */
const maxSide = 2000;
const minSide = 16;

export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;

const endings: Readonly<Record<PictureHeader['type'], string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};

export const logoPath = (orgId: string, logo: string | null) =>
  logo === null ? null : `/logos/${orgId}/${logo}`;
