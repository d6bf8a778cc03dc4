import { notFound, orNotFound, Refusal } from '../errors.ts';
import { one, type Sql } from '../lib/db/db.ts';

/** Locks the organization until the transaction ends. */
export async function lockOrganization(sql: Sql, orgId: string) {
  const locked = await sql`select from organizations where id = ${orgId} for no key update`;
  return locked.length === 0 ? undefined : await findOrganization(sql, orgId);
}

/** Refuses a row beyond the limit. Locks the organization, because concurrent requests could exceed it together. */
export async function refuseAtLimit(
  tx: Sql,
  orgId: string,
  table: 'canned_texts' | 'segments' | 'tags' | 'webhooks',
  max: number,
) {
  const locked = await tx`select from organizations where id = ${orgId} for no key update`;
  if (locked.length === 0) throw notFound('organization');
  const rows = await tx`select from ${tx(table)} where org_id = ${orgId}`;
  if (rows.length < max) return;
  throw new Refusal('invalid', `an organization has at most ${max} ${table.replace('_', ' ')}`, {
    code: `too_many_${table}`,
  });
}

/** Node knows some time zones that Postgres does not. */
export async function isKnownZone(sql: Sql, name: string): Promise<boolean> {
  const rows = await sql`select from pg_timezone_names where lower(name) = lower(${name})`;
  return rows.length > 0;
}

export type OrganizationRow = {
  id: string;
  name: string;
  slug: string;
  color: string;
  logo: string | null;
  time_zone: string;
  language: string;
  postal_address: string | null;
  mail_foot: string | null;
  contact_email: string | null;
  people: string[];
  monthly_send_limit: number;
  frequency_days: number | null;
  ai_enabled: boolean;
  keep_comments_days: number | null;
  keep_contacts_days: number | null;
  keep_openings_days: number | null;
  keep_mails_days: number | null;
  created_at: Date;
  updated_at: Date;
};

export type OrganizationSettings = Partial<
  Omit<OrganizationRow, 'id' | 'slug' | 'logo' | 'created_at' | 'updated_at'>
>;

const fields = (sql: Sql) => sql`
  id, name, slug, color, logo, time_zone, language, postal_address, mail_foot, contact_email, people,
  monthly_send_limit, frequency_days, ai_enabled, keep_comments_days, keep_contacts_days, keep_openings_days,
  keep_mails_days, created_at, updated_at`;

export async function insertOrganization(
  sql: Sql,
  settings: OrganizationSettings & { name: string },
): Promise<OrganizationRow> {
  for (;;) {
    const row = await insertUnderFreeSlug(sql, settings);
    if (row) return row;
  }
}

export async function insertOrganizationOnce(
  sql: Sql,
  organization: OrganizationSettings & { id: string; name: string; created_at?: Date },
): Promise<OrganizationRow | undefined> {
  while (!(await findOrganization(sql, organization.id))) {
    const row = await insertUnderFreeSlug(sql, organization);
    if (row) return row;
  }
  return undefined;
}

/**
 * Uses the first free slug of the name: `acme`, `acme-2` and so on. Returns undefined if another transaction took the
 * slug or the id at the same moment.
 */
async function insertUnderFreeSlug(
  sql: Sql,
  organization: OrganizationSettings & { name: string },
): Promise<OrganizationRow | undefined> {
  const slug = slugOf(organization.name);
  const [free] = await sql<{ slug: string }[]>`
    -- all organizations
    select slug
    from generate_series(1, (select count(*) + 1 from organizations) + (select count(*) from former_slugs)) n,
         lateral (select case when n = 1 then ${slug}::text else ${slug}::text || '-' || n end) s (slug)
    where not exists (select from organizations o where o.slug = s.slug)
      and not exists (select from former_slugs f where f.slug = s.slug)
    order by n
    limit 1`;
  const [row] = await sql<OrganizationRow[]>`
    insert into organizations ${sql({ ...organization, slug: free?.slug ?? slug })}
    on conflict do nothing
    returning ${fields(sql)}`;
  return row;
}

/** Maximum length of a slug from a name, before a number is added. */
const maxSlug = 60;

/** Letters that Unicode does not decompose into an ASCII letter and a mark. */
const spelledOut: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
};

/** The lower-case ASCII words of a name, joined by hyphens. */
export function slugOf(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[ßæœøđðþłı]/g, (letter) => spelledOut[letter] ?? '')
    .normalize('NFKD')
    .replace(/\p{M}|['’]/gu, '')
    .match(/[a-z0-9]+/g);
  const slug = (words ?? []).join('-').slice(0, maxSlug).replace(/-$/, '');
  return slug === '' ? 'organization' : slug;
}

export async function updateOrganization(sql: Sql, orgId: string, settings: OrganizationSettings) {
  await sql`update organizations set ${sql(settings)}, updated_at = now() where id = ${orgId}`;
}

export async function listOrganizations(sql: Sql): Promise<OrganizationRow[]> {
  return await sql<OrganizationRow[]>`
    select ${fields(sql)}
    from organizations
    order by created_at desc, id desc`;
}

async function findOrganization(sql: Sql, orgId: string): Promise<OrganizationRow | undefined> {
  const [row] = await sql<OrganizationRow[]>`
    select ${fields(sql)} from organizations where id = ${orgId}`;
  return row;
}

export async function getOrganization(sql: Sql, orgId: string): Promise<OrganizationRow> {
  return orNotFound(await findOrganization(sql, orgId), 'organization');
}

type SendSettings = {
  used: number;
  month: string;
  monthly_send_limit: number;
  frequency_days: number | null;
};

/** Locks the month's usage until the transaction ends, and returns it with the limits for sends. */
export async function lockUsage(sql: Sql, orgId: string, at: Date | null = null) {
  return one(
    await sql<SendSettings[]>`
      with usage as (
        insert into mail_usage as u (org_id, month)
        values (${orgId}, date_trunc('month', coalesce(${at}::timestamptz, now()) at time zone 'UTC')::date)
        on conflict (org_id, month) do update set used = u.used
        returning used, month
      )
      select usage.used, usage.month::text, o.monthly_send_limit, o.frequency_days
      from usage, organizations o
      where o.id = ${orgId}`,
  );
}

/** Locks an earlier month. Callers lock months in order, which avoids deadlocks. */
export async function lockMonth(sql: Sql, orgId: string, month: string) {
  await sql`
    select from mail_usage
    where org_id = ${orgId} and month = ${month}::date
    for no key update`;
}

/** `lockUsage` without the lock, for previews. */
export async function readUsage(sql: Sql, orgId: string, at: Date | null = null) {
  return one(
    await sql<SendSettings[]>`
      select coalesce(u.used, 0) as used, m.month::text, o.monthly_send_limit, o.frequency_days
      from organizations o
      cross join (
        select date_trunc('month', coalesce(${at}::timestamptz, now()) at time zone 'UTC')::date as month
      ) m
      left join mail_usage u on u.org_id = o.id and u.month = m.month
      where o.id = ${orgId}`,
  );
}

export async function addUsage(sql: Sql, orgId: string, month: string, mails: number) {
  await sql`
    update mail_usage
    set used = used + ${mails}
    where org_id = ${orgId} and month = ${month}::date`;
}

/** Returns unused quota to its month. `mails` selects org_id, month and number of mails. */
export const giveBackUsage = (sql: Sql, mails: ReturnType<typeof sql>) => sql`
  update mail_usage u
  set used = greatest(u.used - back.mails, 0)
  from (${mails}) as back (org_id, month, mails)
  where u.org_id = back.org_id and u.month = back.month`;

export function refuseOverLimit(
  { used, monthly_send_limit }: Pick<SendSettings, 'used' | 'monthly_send_limit'>,
  requested: number,
) {
  if (requested === 0 || used + requested <= monthly_send_limit) return;
  throw new Refusal(
    'forbidden',
    `the monthly send limit of ${monthly_send_limit} would be exceeded, nothing was sent`,
    {
      code: 'SEND_LIMIT_EXCEEDED',
      details: { current_limit: monthly_send_limit, used, requested },
    },
  );
}
