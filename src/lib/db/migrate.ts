import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { unavailable } from '../../errors.ts';
import { listAssets, readAsset } from '../process/lifecycle.ts';
import { type Db, one, type Sql } from './db.ts';

const folder = 'sql/migrations/';
export const oldestPostgres = 15;
const wrongLocale =
  "lower-cases I to ı. Create one with another locale: `create database NAME template template0 locale 'C.UTF-8'`";
const lockPollMs = 50;
/** A migration that waits for a lock blocks everything behind it, so it fails and the next start retries it. */
const lockTimeout = '5s';

type Migration = { name: string; text: string; sha256: string };

/** Applies missing migrations and returns their names. Several processes may call this at once. */
export async function migrate(db: Db, migrations = readMigrations()): Promise<string[]> {
  await refuseUnfitPostgres(db);
  const identify = ({ name, sha256 }: Applied) => `${name} ${sha256}`;
  const applied = (await listApplied(db)).map(identify).sort().join();
  if (applied === migrations.map(identify).sort().join()) return [];
  // One connection holds the lock, and another one does the work.
  if (db.options.max < 2) throw new Error('migrate needs a pool of at least two connections');
  return await withSchemaLock(db, async () => {
    const session = await db.reserve();
    try {
      // Creating an index on a large table can exceed any limit.
      await session`set statement_timeout = 0`;
      return await applyMissing(session, migrations);
    } finally {
      await session`reset statement_timeout`.catch(() => {});
      session.release();
    }
  });
}

/**
 * Runs schema changes in one process at a time. The lock is a table lock, because any role can take an advisory lock.
 * A separate transaction holds it, because `create index concurrently` cannot run in one.
 */
export async function withSchemaLock<T>(db: Db, work: (holder: Sql) => Promise<T>): Promise<T> {
  const holder = await db.reserve();
  try {
    await waitForLock(holder);
    return await work(holder);
  } finally {
    await holder`rollback`.catch(() => {});
    holder.release();
  }
}

export async function schemaState(sql: Sql, migrations = readMigrations()) {
  const applied = await listApplied(sql);
  const known = new Set(migrations.map(({ name }) => name));
  const present = new Set(applied.map(({ name }) => name));
  return {
    applied: applied.length,
    missing: migrations.filter(({ name }) => !present.has(name)).map(({ name }) => name),
    unknown: applied.filter(({ name }) => !known.has(name)).map(({ name }) => name),
  };
}

export function readMigrations(): Migration[] {
  return listAssets(folder).map((asset) => {
    const text = readAsset(asset);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { name: asset.slice(folder.length), text, sha256 };
  });
}

export async function refuseUnfitPostgres(sql: Sql) {
  const { version, folds } = one(
    await sql<{ version: number; folds: boolean }[]>`
      select current_setting('server_version_num')::int / 10000 as version,
             lower('I') = 'i' as folds`,
  );
  if (version < oldestPostgres) {
    throw unavailable(
      `this database is PostgreSQL ${version}; this program needs PostgreSQL ${oldestPostgres} or newer`,
    );
  }
  // Postgres and this program must agree on the lower case of addresses.
  if (!folds) throw unavailable(`this database ${wrongLocale}`);
}

/** Polls, because a blocked session holds a snapshot that a concurrent index build in another process waits for. */
async function waitForLock(session: Sql) {
  for (;;) {
    try {
      await session`
        create table if not exists schema_migrations (
          name       text primary key,
          sha256     text not null,
          applied_at timestamptz not null default now()
        )`;
      await session`begin`;
      await session`set local idle_in_transaction_session_timeout = 0`;
      // This lock mode conflicts with itself but not with reads and writes.
      await session`lock table schema_migrations in share update exclusive mode nowait`;
      return;
    } catch (error) {
      await session`rollback`;
      if (!heldByAnother.includes(String((error as { code?: string }).code))) throw error;
    }
    await sleep(lockPollMs);
  }
}

/** Error codes of `nowait`, or of another process that creates the table or its type at the same time. */
const heldByAnother = ['55P03', '42P07', '42710', '23505'];

async function applyMissing(session: postgres.ReservedSql, migrations: Migration[]) {
  const applied = await listApplied(session);
  refuseNewerOrUnreleased(applied, migrations);

  const done = new Set(applied.map(({ name }) => name));
  const missing = migrations.filter(({ name }) => !done.has(name));
  for (const migration of missing) await apply(session, migration);
  return missing.map(({ name }) => name);
}

type Applied = { name: string; sha256: string };

async function listApplied(sql: Sql): Promise<Applied[]> {
  const { exists } = one(
    await sql<{ exists: boolean }[]>`select to_regclass('schema_migrations') is not null as exists`,
  );
  return exists ? await sql<Applied[]>`select name, sha256 from schema_migrations` : [];
}

function refuseNewerOrUnreleased(applied: Applied[], migrations: Migration[]) {
  const known = new Map(migrations.map(({ name, sha256 }) => [name, sha256]));
  const newest = migrations.at(-1)?.name ?? '';
  for (const { name, sha256 } of applied) {
    const isNewer = !known.has(name) && name > newest;
    if (!isNewer && known.get(name) !== sha256) {
      throw unavailable(
        'this database was created by an unreleased version of this program; start with an empty one',
      );
    }
  }
  const newer = applied.find(({ name }) => !known.has(name));
  if (newer) {
    throw unavailable(
      `this database is newer than this program: it has the migration ${newer.name}. Run the newer version`,
    );
  }
}

async function apply(session: postgres.ReservedSql, { name, text, sha256 }: Migration) {
  const inTransaction = !text.startsWith('-- no-transaction');
  if (inTransaction) await session`begin`;
  try {
    await session`select set_config('lock_timeout', ${lockTimeout}, ${inTransaction})`;
    await session.unsafe(text).simple();
    await session`insert into schema_migrations (name, sha256) values (${name}, ${sha256})`;
    if (inTransaction) await session`commit`;
  } catch (error) {
    if (inTransaction) await session`rollback`.catch(() => {});
    throw error;
  }
}
