import { one, type Part, type Sql } from '../lib/db/db.ts';

/** Where the log was after the last write of an organization, as a number of bytes; an expression. */
export const writtenBy = (sql: Sql, orgId: Part): Part => sql`
  coalesce((select pg_wal_lsn_diff(position, '0/0')::float8
            from organization_writes
            where org_id = ${orgId}), 0)`;

export async function findWritten(sql: Sql, orgId: string): Promise<number> {
  const rows = await sql<{ written: number }[]>`
    select ${writtenBy(sql, sql`${orgId}::uuid`)} as written`;
  return one(rows).written;
}

/** The position is read under the lock of the row, so that the later of two writes leaves the later one. */
export async function recordWritten(sql: Sql, orgId: string) {
  await sql`
    insert into organization_writes (org_id, position)
    values (${orgId}, pg_current_wal_insert_lsn())
    on conflict (org_id) do update set position = pg_current_wal_insert_lsn()`;
}

/** An organization that is known already, for what is built into a statement. */
export const asPart = (sql: Sql, orgId: string): Part => sql`${orgId}::uuid`;

/** What a request asks for, as JSON text. */
export async function readJson(sql: Sql, json: Part): Promise<string | null> {
  return one(await sql<{ json: string | null }[]>`select (${json}) as json`).json;
}
