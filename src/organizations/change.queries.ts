import type { Sql } from '../lib/db/db.ts';
import { findOrganization, type OrganizationRow } from './queries.ts';

/** The organization, locked until the transaction ends. */
export async function lockOrganization(
  sql: Sql,
  orgId: string,
): Promise<OrganizationRow | undefined> {
  const locked = await sql`select from organizations where id = ${orgId} for no key update`;
  return locked.length === 0 ? undefined : await findOrganization(sql, orgId);
}

/** The runtime knows some names of time zones that Postgres does not. */
export async function isKnownZone(sql: Sql, name: string): Promise<boolean> {
  const found = await sql`select from pg_timezone_names where lower(name) = lower(${name})`;
  return found.length > 0;
}

/** Whether another organization has this slug, or had it: its addresses lead there. */
export async function isSlugTaken(sql: Sql, orgId: string, slug: string): Promise<boolean> {
  const taken = await sql`
    -- all organizations
    select from organizations where slug = ${slug} and id <> ${orgId}
    union all
    select from former_slugs where slug = ${slug} and org_id <> ${orgId}`;
  return taken.length > 0;
}

/** From now on addresses with the slug so far lead to the new one. */
export async function replaceSlug(sql: Sql, orgId: string, slug: string) {
  await sql`
    insert into former_slugs (slug, org_id)
    select slug, id from organizations where id = ${orgId}
    on conflict do nothing`;
  await sql`delete from former_slugs where org_id = ${orgId} and slug = ${slug}`;
  await sql`update organizations set slug = ${slug}, updated_at = now() where id = ${orgId}`;
}

export type LogoPicture = {
  type: 'image/png' | 'image/jpeg' | 'image/webp';
  width: number;
  height: number;
  bytes: Uint8Array;
};

export type NamedLogo = { name: string; picture: LogoPicture };

export async function saveLogo(sql: Sql, orgId: string, { name, picture }: NamedLogo) {
  const { type, width, height, bytes } = picture;
  await sql`
    insert into organization_logos (org_id, type, width, height, bytes)
    values (${orgId}, ${type}, ${width}, ${height}, ${Buffer.from(bytes)})
    on conflict (org_id) do update
      set type = excluded.type, width = excluded.width, height = excluded.height,
          bytes = excluded.bytes, changed_at = now()`;
  await sql`update organizations set logo = ${name}, updated_at = now() where id = ${orgId}`;
}

export async function deleteLogo(sql: Sql, orgId: string): Promise<boolean> {
  const gone = await sql`delete from organization_logos where org_id = ${orgId}`;
  await sql`update organizations set logo = null, updated_at = now() where id = ${orgId}`;
  return gone.count > 0;
}

export type ServedLogo = { type: LogoPicture['type']; bytes: Buffer; name: string };

/** The logo of an organization as it is now, whatever name an earlier mail has for it. */
export async function findLogo(sql: Sql, orgId: string): Promise<ServedLogo | undefined> {
  const [logo] = await sql<ServedLogo[]>`
    select l.type, l.bytes, o.logo as name
    from organization_logos l
    join organizations o on o.id = l.org_id
    where l.org_id = ${orgId} and o.logo is not null`;
  return logo;
}
