import { one, type Sql } from './db.ts';

/** A migration, or a step that it leaves, as its row names it. */
type Named = { name: string; sha256: string };

/**
 * Whether a schema lacks nothing, and no other process is at it: most starts find that, and need neither a turn nor a
 * session. Two statements, for the second one would fail where its tables are missing.
 */
export async function isUpToDate(
  sql: Sql,
  lockName: string,
  { migrations, steps }: { migrations: readonly Named[]; steps: readonly Named[] },
): Promise<boolean> {
  const { exist } = one(
    await sql<{ exist: boolean }[]>`
      select to_regclass('schema_migrations') is not null
             and to_regclass('migration_steps') is not null as exist`,
  );
  if (!exist) return false;
  const { is_free, applied, left } = one(
    await sql<{ is_free: boolean; applied: string[]; left: string[] }[]>`
      select pg_try_advisory_xact_lock(hashtext(${lockName})) as is_free,
             array(select name || ' ' || sha256 from schema_migrations) as applied,
             array(select name || ' ' || case when ended_at is null then sha256 else 'ended' end
                   from migration_steps) as left`,
  );
  const isApplied = ({ name, sha256 }: Named) => applied.includes(`${name} ${sha256}`);
  const isLeft = ({ name, sha256 }: Named) =>
    [`${name} ${sha256}`, `${name} ended`].some((row) => left.includes(row));
  return (
    is_free &&
    applied.length === migrations.length &&
    migrations.every(isApplied) &&
    steps.every(isLeft)
  );
}
