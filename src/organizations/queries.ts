import { notFound } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { slugOf } from './rules.ts';

export type OrganizationRow = {
  id: string;
  name: string;
  slug: string;
  color: string;
  /** The name of the logo in addresses. */
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

/** What may be set of an organization. */
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

/** Adds an organization under a given id; returns nothing when it exists already. */
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
 * Takes the first slug of the name that is free: `acme`, `acme-2` and on. Returns nothing when another transaction
 * took it at the same moment, or the id.
 */
async function insertUnderFreeSlug(
  sql: Sql,
  organization: OrganizationSettings & { name: string },
): Promise<OrganizationRow | undefined> {
  const wished = slugOf(organization.name);
  const [free] = await sql<{ slug: string }[]>`
    -- all organizations
    select slug
    from generate_series(1, (select count(*) + 1 from organizations) + (select count(*) from former_slugs)) n,
         lateral (select case when n = 1 then ${wished}::text else ${wished}::text || '-' || n end) s (slug)
    where not exists (select from organizations o where o.slug = s.slug)
      and not exists (select from former_slugs f where f.slug = s.slug)
    order by n
    limit 1`;
  const [row] = await sql<OrganizationRow[]>`
    insert into organizations ${sql({ ...organization, slug: free?.slug ?? wished })}
    on conflict do nothing
    returning ${fields(sql)}`;
  return row;
}

/** At least one setting must be given. */
export async function updateOrganization(
  sql: Sql,
  orgId: string,
  settings: OrganizationSettings,
): Promise<OrganizationRow | undefined> {
  const [row] = await sql<OrganizationRow[]>`
    update organizations
    set ${sql(settings)}, updated_at = now()
    where id = ${orgId}
    returning ${fields(sql)}`;
  return row;
}

export async function listOrganizations(sql: Sql): Promise<OrganizationRow[]> {
  return await sql<OrganizationRow[]>`
    select ${fields(sql)}
    from organizations
    order by created_at desc, id desc`;
}

export async function findOrganization(
  sql: Sql,
  orgId: string,
): Promise<OrganizationRow | undefined> {
  const [row] = await sql<OrganizationRow[]>`
    select ${fields(sql)} from organizations where id = ${orgId}`;
  return row;
}

/** The organization that a command names by its id. */
export async function getOrganization(sql: Sql, orgId: string): Promise<OrganizationRow> {
  const organization = await findOrganization(sql, orgId);
  if (!organization) throw notFound('organization');
  return organization;
}
