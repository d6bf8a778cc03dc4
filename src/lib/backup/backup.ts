import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import type postgres from 'postgres';
import * as v from 'valibot';
import type { Db, Sql } from '../db/db.ts';
import { writePrivateFile } from './private-file.ts';

type BackupOptions = { archive: Archive; file: string; secretKey: Buffer | null };
type Session = postgres.ReservedSql;
type Line = { line: string };

const rowsAtATime = 1000;

/**
 * Writes a consistent snapshot of all tables, the queued jobs and the secret key into one file, while the service runs.
 * A restore enqueues the jobs again.
 */
export async function backup(db: Db, options: BackupOptions): Promise<{ rows: number }> {
  const session = await db.reserve();
  const counted = { rows: 0 };
  try {
    await session`begin isolation level repeatable read read only`;
    await writePrivateFile(options.file, (out) =>
      pipeline(
        everything(session, options, counted),
        // The checksum detects a damaged file.
        createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
        out,
      ),
    );
    return counted;
  } finally {
    await session`rollback`.catch(() => {});
    session.release();
  }
}

async function* everything(
  session: Session,
  { archive, secretKey }: BackupOptions,
  counted: { rows: number },
) {
  const migrations = await session<Header['migrations']>`
    select name, sha256 from schema_migrations order by name`;
  yield toLine({
    backup_of: archive.program,
    format: 1,
    created_at: new Date().toISOString(),
    migrations: [...migrations],
    secret_key: secretKey?.toString('base64') ?? null,
  } satisfies Header);
  for (const { table } of await listTables(session, archive.except)) {
    yield toLine({ table } satisfies Mark);
    yield* rows(session<Line[]>`select json_build_array(t)::text as line from ${session(table)} t`);
  }
  yield toLine({ table: queue } satisfies Mark);
  yield* rows(queuedJobs(session));
  yield toLine({ rows: counted.rows } satisfies Mark);

  async function* rows(query: postgres.PendingQuery<Line[]>) {
    for await (const batch of query.cursor(rowsAtATime)) {
      counted.rows += batch.length;
      yield `${batch.map(({ line }) => line).join('\n')}\n`;
    }
  }
}

/** Tasks and payloads, not the queue's tables, which another version may shape differently. */
const queuedJobs = (session: Session) => session<Line[]>`
  select json_build_array(json_build_object(
           'task', t.identifier, 'payload', j.payload, 'run_at', j.run_at
         ))::text as line
  from graphile_worker._private_jobs j
  join graphile_worker._private_tasks t on t.id = j.task_id
  where j.attempts < j.max_attempts
  order by j.id`;

const toLine = (value: object) => `${JSON.stringify(value)}\n`;

export type Archive = {
  program: string;
  /** Tables that mean nothing in another deployment. */
  except: readonly string[];
  isFilled: (sql: Sql) => Promise<boolean>;
};

/**
 * A backup is one zstd file of JSON lines: a header, then for each table its name and a line for each row, then the
 * number of rows, which proves that the file is complete.
 */
export const Header = v.object({
  backup_of: v.string(),
  format: v.literal(1),
  created_at: v.string(),
  migrations: v.array(v.object({ name: v.string(), sha256: v.string() })),
  secret_key: v.nullable(v.string()),
});
export type Header = v.InferOutput<typeof Header>;

/** Each row is wrapped in an array, so its first character distinguishes it from a mark. */
export const Mark = v.union([v.object({ table: v.string() }), v.object({ rows: v.number() })]);
export type Mark = v.InferOutput<typeof Mark>;

export const queue = 'queue';

/** `columns` leaves out generated columns. */
export type Table = { table: string; identity: string | null; columns: string[] };

export async function listTables(sql: Sql, except: readonly string[]): Promise<Table[]> {
  const tables = await sql<(Table & { refers_to: string[] })[]>`
    select c.relname as table,
           (
             select a.attname::text
             from pg_attribute a
             where a.attrelid = c.oid and a.attidentity <> ''
           ) as identity,
           array(
             select a.attname::text
             from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
             order by a.attnum
           ) as columns,
           array(
             select distinct f.confrelid::regclass::text
             from pg_constraint f
             where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
           ) as refers_to
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all (${[...except]})
    order by c.relname`;
  return sortByReferences(tables);
}

function sortByReferences<T extends { table: string; refers_to: string[] }>(
  tables: readonly T[],
): T[] {
  const placed = new Set<string>();
  const ordered: T[] = [];
  while (ordered.length < tables.length) {
    const ready = tables.filter(
      ({ table, refers_to }) => !placed.has(table) && refers_to.every((other) => placed.has(other)),
    );
    if (ready.length === 0) throw new Error('tables refer to each other in a circle');
    for (const table of ready) placed.add(table.table);
    ordered.push(...ready);
  }
  return ordered;
}
