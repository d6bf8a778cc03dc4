import { notFound } from '../errors.ts';
import { one, type Sql } from '../lib/db/db.ts';

export type OrganizationRow = {
  id: string;
  name: string;
  color: string;
  time_zone: string;
  contact_email: string | null;
  people: string[];
  monthly_send_limit: number;
  frequency_days: number | null;
  ai_enabled: boolean;
  created_at: Date;
  updated_at: Date;
};

/** What may be set of an organization. */
export type OrganizationSettings = Partial<
  Omit<OrganizationRow, 'id' | 'created_at' | 'updated_at'>
>;

const fields = (sql: Sql) => sql`
  id, name, color, time_zone, contact_email, people, monthly_send_limit, frequency_days, ai_enabled,
  created_at, updated_at`;

export async function insertOrganization(
  sql: Sql,
  settings: OrganizationSettings & { name: string },
): Promise<OrganizationRow> {
  return one(
    await sql<OrganizationRow[]>`
      insert into organizations ${sql(settings)}
      returning ${fields(sql)}`,
  );
}

/** Adds an organization under a given id; returns nothing when it exists already. */
export async function insertOrganizationOnce(
  sql: Sql,
  organization: OrganizationSettings & { id: string; name: string; created_at?: Date },
): Promise<OrganizationRow | undefined> {
  const [row] = await sql<OrganizationRow[]>`
    insert into organizations ${sql(organization)}
    on conflict (id) do nothing
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
