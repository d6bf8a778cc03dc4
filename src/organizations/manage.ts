import * as v from 'valibot';
import { type Actor, changesOf, recordAct, type Writer } from '../audit/acts.ts';
import { orNotFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql, violates } from '../lib/db/db.ts';
import { type IfMatch, refuseOtherVersion, versionOf } from '../lib/http/version.ts';
import { isLanguage, isTimeZone } from '../lib/validation/parse.ts';
import { isLongerThan } from '../limits.ts';
import { readLogo, replaceLogo } from './logo.ts';
import {
  getOrganization,
  insertOrganization,
  isKnownZone,
  lockOrganization,
  type OrganizationRow,
  type OrganizationSettings,
  updateOrganization,
} from './queries.ts';

/** Initial settings. Analysis is on unless comments would leave this machine. */
export const newOrganization = ({ ai }: { ai?: object | null }) => ({ ai_enabled: !ai });

export async function createOrganization(
  tx: Sql,
  actor: Actor,
  settings: OrganizationSettings & { name: string },
): Promise<OrganizationRow> {
  await refuseUnknownZone(tx, settings);
  const organization = await insertOrganization(tx, settings);
  const { id: orgId, name } = organization;
  const target = { kind: 'organization', id: orgId };
  await recordAct(tx, { orgId, actor, act: 'organization.created', target, details: { name } });
  return organization;
}

export type OrganizationChange = OrganizationSettings & {
  slug?: string;
  logo?: Uint8Array | null;
};

export async function changeOrganization(
  db: Db,
  writer: Writer,
  { logo: file, ifMatch, ...change }: OrganizationChange & { ifMatch?: IfMatch },
): Promise<OrganizationRow> {
  const { orgId } = writer;
  const logo = file ? readLogo(file) : file;
  return await inTransaction(db, async (tx) => {
    const before = orNotFound(await lockOrganization(tx, orgId), 'organization');
    refuseOtherVersion(versionOfOrganization(before), ifMatch);
    const { slug, ...settings } = change;
    await refuseUnknownZone(tx, settings);
    if (slug !== undefined) await changeSlug(tx, orgId, slug);
    if (Object.keys(settings).length > 0) await updateOrganization(tx, orgId, settings);
    if (logo !== undefined) await replaceLogo(tx, writer, logo);
    const changes = changesOf(before, change);
    const target = { kind: 'organization', id: orgId };
    if (Object.keys(changes).length > 0) {
      await recordAct(tx, { ...writer, act: 'organization.changed', target, details: { changes } });
    }
    return await getOrganization(tx, orgId);
  });
}

export const versionOfOrganization = ({ updated_at, ...organization }: OrganizationRow) =>
  versionOf(organization, Object.keys(organization) as (keyof typeof organization)[]);

/** Postgres must know the time zone too: it computes the reports, and Node computes pages and mails. */
async function refuseUnknownZone(tx: Sql, { time_zone }: OrganizationSettings) {
  if (time_zone === undefined || (await isKnownZone(tx, time_zone))) return;
  throw new Refusal('invalid', `Postgres does not know the time zone ${time_zone}`, {
    code: 'unknown_time_zone',
  });
}

/** Former slugs of other organizations are taken too, because they redirect. */
async function changeSlug(tx: Sql, orgId: string, slug: string) {
  const taken = await tx`
    -- all organizations
    select from organizations where slug = ${slug} and id <> ${orgId}
    union all
    select from former_slugs where slug = ${slug} and org_id <> ${orgId}`;
  if (taken.length > 0) throw slugTaken(slug);
  await tx`
    insert into former_slugs (slug, org_id)
    select slug, id from organizations where id = ${orgId}
    on conflict do nothing`;
  await tx`delete from former_slugs where org_id = ${orgId} and slug = ${slug}`;
  const renamed = tx`
    update organizations set slug = ${slug}, updated_at = now() where id = ${orgId}`;
  await renamed.catch((error: unknown) => {
    throw violates(error, 'organizations_have_distinct_slugs') ? slugTaken(slug) : error;
  });
}

const slugTaken = (slug: string) =>
  new Refusal('conflict', `the slug ${slug} is taken`, { code: 'slug_taken' });

export const maxDays = 36_500;
/** Maximum retention of link visits and blocked mails, in days. */
export const maxLogDays = 90;

/** Retention settings, in days. */
export const retentions = [
  {
    setting: 'keep_comments_days',
    label: 'Keep comments (days)',
    help: 'Older comments are deleted with their analyses, notes and excerpts. Scores stay. Leave empty to keep them.',
    most: maxDays,
  },
  {
    setting: 'keep_contacts_days',
    label: 'Keep inactive contacts (days)',
    help: 'Contacts without an email, visit, response or change are deleted. Their scores stay, anonymously. Leave empty to keep them.',
    most: maxDays,
  },
  {
    setting: 'keep_openings_days',
    label: 'Keep link visits (days)',
    help: `Up to ${maxLogDays}, which is also the default.`,
    most: maxLogDays,
  },
  {
    setting: 'keep_mails_days',
    label: 'Keep the email log (days)',
    help: 'Who got which email, and the results of campaigns. Kept for at least 61 days, and as long as the survey frequency needs. Leave empty to keep it.',
    most: maxDays,
  },
] as const;

const maxSlug = 80;
const maxText = 500;
const maxLines = 8;

export const TimeZone = v.pipe(
  v.string(),
  v.check(isTimeZone, 'must be the name of a time zone such as Europe/Berlin'),
);

export const Language = v.pipe(
  v.string(),
  v.check(isLanguage, 'must be a language tag such as en or pt-BR'),
);

export const Slug = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be words of a-z and 0-9 with hyphens between them'),
  v.maxLength(maxSlug, `must be at most ${maxSlug} characters`),
);

export const Lines = v.pipe(
  v.string(),
  v.transform(tidyLines),
  v.check((text) => !isLongerThan(text, maxText), `must be at most ${maxText} characters`),
  v.check((text) => text.split('\n').length <= maxLines, `must be at most ${maxLines} lines`),
  v.check((text) => !/[^\P{Cc}\n]/u.test(text), 'must be text without control characters'),
  v.transform((text) => (text === '' ? null : text)),
);

function tidyLines(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim());
  return lines.join('\n').trim();
}
