import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import type postgres from 'postgres';
import type { Db } from '../db/db.ts';
import { type Archive, type Header, type Mark, queue } from './format.ts';
import { writePrivateFile } from './private-file.ts';
import { listTables } from './tables.ts';

type BackupOptions = { archive: Archive; file: string; secretKey: Buffer | null };
type Session = postgres.ReservedSql;
type Line = { line: string };

const rowsAtATime = 1000;

/**
 * Backup and restore of a whole deployment: every table, the jobs that wait, the secret key.
 *
 * Writes everything the deployment keeps into one file, as of one moment, while it serves. Jobs that
 * wait in the queue are written by task and payload, and added to the queue of the restored deployment.
 */
export async function backup(db: Db, options: BackupOptions): Promise<{ rows: number }> {
  const session = await db.reserve();
  const counted = { rows: 0 };
  try {
    await session`begin isolation level repeatable read read only`;
    await writePrivateFile(options.file, (out) =>
      pipeline(
        everything(session, options, counted),
        // With a checksum, so that a damaged file is noticed.
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
  yield toLine(await header(session, archive.program, secretKey));
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

async function header(
  session: Session,
  program: string,
  secretKey: Buffer | null,
): Promise<Header> {
  const migrations = await session<Header['migrations']>`
    select name, sha256 from schema_migrations order by name`;
  return {
    backup_of: program,
    format: 1,
    created_at: new Date().toISOString(),
    migrations: [...migrations],
    secret_key: secretKey?.toString('base64') ?? null,
  };
}

/** The tables of the queue are not copied: another version may shape them differently. */
const queuedJobs = (session: Session) => session<Line[]>`
  select json_build_array(json_build_object(
           'task', t.identifier, 'payload', j.payload, 'run_at', j.run_at
         ))::text as line
  from graphile_worker._private_jobs j
  join graphile_worker._private_tasks t on t.id = j.task_id
  where j.attempts < j.max_attempts
  order by j.id`;

const toLine = (value: object) => `${JSON.stringify(value)}\n`;
