import type { Actor, Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, type Sql, violates } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { isKnownZone, isSlugTaken, lockOrganization, replaceSlug } from './change.queries.ts';
import { readLogo, replaceLogo } from './logo.ts';
import {
  getOrganization,
  insertOrganization,
  type OrganizationRow,
  type OrganizationSettings,
  updateOrganization,
} from './queries.ts';

/** Makes an organization in the caller's transaction. */
export async function createOrganization(
  tx: Sql,
  actor: Actor,
  settings: OrganizationSettings & { name: string },
): Promise<OrganizationRow> {
  await refuseUnknownZone(tx, settings);
  const made = await insertOrganization(tx, settings);
  const target = { kind: 'organization', id: made.id };
  const details = { name: made.name };
  await recordAct(tx, { orgId: made.id, actor, act: 'organization.created', target, details });
  return made;
}

export type OrganizationChange = OrganizationSettings & {
  slug?: string;
  /** The file of the logo; null removes it. */
  logo?: Uint8Array | null;
};

/** Changes what is given and differs. Addresses with an earlier slug lead to the present one. */
export async function changeOrganization(
  db: Db,
  writer: Writer,
  { logo: file, ...change }: OrganizationChange,
): Promise<OrganizationRow> {
  const { orgId } = writer;
  const logo = file ? readLogo(file) : file;
  return await inTransaction(db, async (tx) => {
    const before = await lockOrganization(tx, orgId);
    if (!before) throw notFound('organization');
    const { slug, ...settings } = differing(before, change);
    await refuseUnknownZone(tx, settings);
    if (slug !== undefined) await rename(tx, orgId, slug);
    if (Object.keys(settings).length > 0) await updateOrganization(tx, orgId, settings);
    if (logo !== undefined) await replaceLogo(tx, writer, logo);
    const changed = Object.keys(slug === undefined ? settings : { slug, ...settings });
    const target = { kind: 'organization', id: orgId };
    if (changed.length > 0) {
      await recordAct(tx, { ...writer, act: 'organization.changed', target, details: { changed } });
    }
    return await getOrganization(tx, orgId);
  });
}

type TextChange = Omit<OrganizationChange, 'logo'>;

function differing(before: OrganizationRow, change: TextChange): TextChange {
  const given = Object.entries(change).filter(
    ([name, value]) =>
      value !== undefined &&
      JSON.stringify(value) !== JSON.stringify(before[name as keyof TextChange]),
  );
  return Object.fromEntries(given);
}

/** Reports are made in the organization's time zone by Postgres, pages and mails by the runtime. */
async function refuseUnknownZone(tx: Sql, { time_zone }: OrganizationSettings) {
  if (time_zone === undefined || (await isKnownZone(tx, time_zone))) return;
  throw new Refusal('invalid', `Postgres does not know the time zone ${time_zone}`, {
    code: 'unknown_time_zone',
  });
}

async function rename(tx: Sql, orgId: string, slug: string) {
  if (await isSlugTaken(tx, orgId, slug)) throw slugTaken(slug);
  await replaceSlug(tx, orgId, slug).catch((error: unknown) => {
    throw violates(error, 'organizations_have_distinct_slugs') ? slugTaken(slug) : error;
  });
}

const slugTaken = (slug: string) =>
  new Refusal('conflict', `the slug ${slug} is taken`, { code: 'slug_taken' });
