import { one, type Sql } from '../lib/db/db.ts';

export type ReporterRow = { org_id: string; name: string; role_name: string; created_at: Date };

export async function insertReporter(
  sql: Sql,
  { org_id, name, role_name }: Omit<ReporterRow, 'created_at'>,
): Promise<ReporterRow> {
  return one(
    await sql<ReporterRow[]>`
      insert into reporters (org_id, name, role_name)
      values (${org_id}, ${name}, ${role_name})
      returning org_id, name, role_name, created_at`,
  );
}

/** Of all organizations. A backup does not bring roles back: such a reporter cannot connect. */
export async function listReporters(sql: Sql) {
  return await sql<(ReporterRow & { organization: string; usable: boolean })[]>`
    -- all organizations
    select p.org_id, o.name as organization, p.name, p.role_name, p.created_at,
           exists (select from pg_roles where rolname = p.role_name) as usable
    from reporters p
    join organizations o on o.id = p.org_id
    order by p.created_at desc, p.name`;
}

export async function deleteReporter(sql: Sql, name: string): Promise<ReporterRow | undefined> {
  const [row] = await sql<ReporterRow[]>`
    -- all organizations
    delete from reporters
    where name = ${name}
    returning org_id, name, role_name, created_at`;
  return row;
}

export async function createRole(sql: Sql, role: string, password: string): Promise<void> {
  await sql`select create_reporter_role(${role}, ${password})`;
}

export async function dropRole(sql: Sql, role: string): Promise<void> {
  await sql`select drop_reporter_role(${role})`;
}
