import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { type PictureHeader, readPictureHeader } from '../lib/pictures/picture-header.ts';
import { isUuid } from '../lib/validation/parse.ts';

const yearSeconds = 31_536_000;
const soonSeconds = 300;

/**
 * `/logos/:id/:name`, for pages and mails. The name contains a hash, so that browsers can cache the picture. Earlier
 * mails show the current logo.
 */
export const logoPages = ({ db }: { db: Db }) =>
  new Hono().get('/:id/:name', async (c) => {
    const { id, name } = c.req.param();
    if (!isUuid(id)) throw notFound('logo');
    const [logo] = await db<{ type: PictureHeader['type']; bytes: Buffer; name: string }[]>`
      select l.type, l.bytes, o.logo as name
      from organization_logos l
      join organizations o on o.id = l.org_id
      where l.org_id = ${id} and o.logo is not null`;
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
export function readLogo(bytes: Uint8Array) {
  if (bytes.length > maxLogoBytes) throw invalid('must have at most 256 KiB');
  const header = readPictureHeader(bytes);
  if (!header) throw invalid('must be a PNG, JPEG or WebP');
  if (Math.max(header.width, header.height) > maxSide)
    throw invalid(`must be at most ${maxSide} pixels wide and high`);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { name: `${hash}.${endings[header.type]}`, ...header, bytes };
}

const invalid = (complaint: string) =>
  new Refusal('invalid', `the logo ${complaint}`, { code: 'invalid_logo' });

type Logo = ReturnType<typeof readLogo>;

export async function replaceLogo(tx: Sql, writer: Writer, logo: Logo | null) {
  const { orgId } = writer;
  const act = { ...writer, target: { kind: 'organization', id: orgId } };
  await tx`update organizations set logo = ${logo?.name ?? null}, updated_at = now() where id = ${orgId}`;
  const { count } = await tx`delete from organization_logos where org_id = ${orgId}`;
  if (logo) {
    const { type, width, height, bytes } = logo;
    await tx`
      insert into organization_logos (org_id, type, width, height, bytes)
      values (${orgId}, ${type}, ${width}, ${height}, ${Buffer.from(bytes)})`;
    await recordAct(tx, { ...act, act: 'logo.changed', details: { width, height } });
  } else if (count > 0) {
    await recordAct(tx, { ...act, act: 'logo.removed' });
  }
}

export const maxLogoBytes = 256 * 1024;

/** Guards browsers against small files that decompress into huge pictures. */
const maxSide = 2000;

export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;

const endings: Readonly<Record<PictureHeader['type'], string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};

export const logoPath = (orgId: string, logo: string | null) =>
  logo === null ? null : `/logos/${orgId}/${logo}`;
