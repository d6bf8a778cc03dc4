import { createReadStream } from 'node:fs';
import { createZstdDecompress } from 'node:zlib';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import { type Db, inTransaction, type Sql } from '../db/db.ts';
import { migrate, readMigrations } from '../db/migrate.ts';
import { addJobs } from '../queue/enqueue.ts';
import { type Archive, Header, listTables, Mark, queue, type Table } from './backup.ts';

const rowsAtATime = 500;
const maxLineLength = 64 * 1024 * 1024;

type RestoreOptions = {
  archive: Archive;
  /** Throws if the backup's secret key differs from an existing one. */
  checkKey: (key: Buffer) => void;
  /** Called once the whole file has been read. */
  saveKey: (key: Buffer) => void;
  afterRestore: readonly ((tx: Sql) => Promise<void>)[];
};

/**
 * Restores a backup into an empty database with a prepared queue: the migrations of the backup, all rows in one
 * transaction, then newer migrations. An incomplete or damaged file changes nothing.
 */
export async function restore(
  db: Db,
  file: string,
  { archive, checkKey, saveKey, afterRestore }: RestoreOptions,
) {
  const lines = readLines(file);
  const header = parseLine(Header, await next(lines));
  if (header.backup_of !== archive.program) throw unusable(`it is a backup of ${header.backup_of}`);
  await prepareSchema(db, header, archive);
  const tables = await listTables(db, archive.except);
  const key = header.secret_key ? Buffer.from(header.secret_key, 'base64') : undefined;
  if (key) checkKey(key);

  const rows = await inTransaction(db, async (tx) => {
    const count = await fill(tx, tables, lines);
    if ((await read(lines)) !== undefined) throw unusable(foreign);
    for (const step of afterRestore) await step(tx);
    if (key) saveKey(key);
    return count;
  }).catch((error: { code?: unknown }) => {
    // Rows are inserted before the checksum at the end of the file is read. A violated type or constraint means that
    // the file is damaged.
    if (/^2[23]/.test(String(error.code))) throw unusable(foreign);
    throw error;
  });
  await migrate(db);
  return { rows, created_at: header.created_at };
}

type Lines = AsyncGenerator<string, undefined>;

async function* readLines(file: string): Lines {
  const source = createReadStream(file);
  const text = source.pipe(createZstdDecompress()).setEncoding('utf8');
  source.on('error', (error) => text.destroy(error));
  let rest = '';
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineLength) throw unusable(foreign);
    yield* lines;
  }
}

async function next(lines: Lines): Promise<string> {
  const line = await read(lines);
  if (line === undefined) throw unusable(cutShort);
  return line;
}

async function read(lines: Lines): Promise<string | undefined> {
  const { value } = await lines.next().catch((error: NodeJS.ErrnoException) => {
    if (error instanceof Refusal) throw error;
    throw unusable(reasonOf(error));
  });
  return value;
}

const cutShort = 'it is cut short, copy it again';
const foreign = 'it is not a backup, or it is damaged';

function reasonOf({ code = '', message, path }: NodeJS.ErrnoException): string {
  if (code === 'Z_BUF_ERROR') return cutShort;
  if (code.startsWith('ZSTD_')) return foreign;
  if (code === 'ENOENT') return `there is no file ${path}`;
  return code === 'EISDIR' ? 'it is a folder' : message;
}

const unusable = (reason: string) =>
  new Refusal('invalid', `the backup cannot be restored: ${reason}`);

function parseLine<const S extends v.GenericSchema>(schema: S, text: string): v.InferOutput<S> {
  try {
    return v.parse(schema, JSON.parse(text));
  } catch {
    throw unusable(foreign);
  }
}

async function prepareSchema(db: Db, header: Header, archive: Archive) {
  const known = new Map(readMigrations().map((migration) => [migration.name, migration]));
  const migrations = header.migrations.map(({ name, sha256 }) => {
    const migration = known.get(name);
    if (migration?.sha256 === sha256) return migration;
    throw unusable(`it was made by a newer ${archive.program} (${name}), use that one`);
  });
  await migrate(db, migrations).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    throw unusable('the database has a newer schema than the backup: restore into an empty one');
  });
  if (await archive.isFilled(db)) {
    throw unusable('the database is not empty: restore into an empty one');
  }
}

/** Triggers are disabled, because the backup contains what they would compute. */
async function fill(session: Sql, tables: readonly Table[], lines: Lines) {
  for (const { table } of tables) {
    await session`alter table ${session(table)} disable trigger user`;
  }
  const rows = await fillTables(session, tables, lines);
  for (const { table, identity } of tables) {
    await session`alter table ${session(table)} enable trigger user`;
    if (!identity) continue;
    await session`
      select setval(pg_get_serial_sequence(${table}, ${identity}),
                    greatest((select max(${session(identity)}) from ${session(table)}), 1))`;
  }
  return rows;
}

async function fillTables(session: Sql, tables: readonly Table[], lines: Lines): Promise<number> {
  let rows = 0;
  let table: Table | undefined;
  let isQueue = false;
  let batch: string[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    const array = `[${batch.join(',')}]`;
    if (isQueue) await addJobs(session, array);
    else if (table) await insertRows(session, table, array);
    else throw unusable('it has rows of an unknown table');
    rows += batch.length;
    batch = [];
  };
  for (;;) {
    const text = await next(lines);
    if (text.startsWith('[')) {
      batch.push(text.slice(1, -1));
      if (batch.length === rowsAtATime) await flush();
      continue;
    }
    await flush();
    const mark = parseLine(Mark, text);
    if ('table' in mark) {
      isQueue = mark.table === queue;
      table = tables.find((each) => each.table === mark.table);
    } else if (mark.rows === rows) return rows;
    else throw unusable('rows are missing');
  }
}

async function insertRows(session: Sql, { table, columns }: Table, rows: string) {
  await session`
    insert into ${session(table)} (${session(columns)}) overriding system value
    select ${session(columns)}
    from json_populate_recordset(null::${session(table)}, ${rows}::text::json)`;
}
