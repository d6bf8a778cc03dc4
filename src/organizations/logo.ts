import { createHash } from 'node:crypto';
import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { Refusal } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { readPictureHeader } from '../lib/pictures/picture-header.ts';
import { deleteLogo, type NamedLogo, saveLogo } from './change.queries.ts';
import { complainOfLogo, endings, largestLogoBytes } from './logo.rules.ts';

/** A file that may become a logo, under the name that its content gives it. */
export function readLogo(bytes: Uint8Array): NamedLogo {
  const header = bytes.length > largestLogoBytes ? undefined : readPictureHeader(bytes);
  const complaint = complainOfLogo({ size: bytes.length, header });
  if (complaint !== null || !header) {
    throw new Refusal('invalid', complaint ?? '', { code: 'invalid_logo' });
  }
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { name: `${hash}.${endings[header.type]}`, picture: { ...header, bytes } };
}

/** Changes the picture that pages and mails show; without one they show the name alone. */
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
