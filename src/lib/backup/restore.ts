import { createReadStream } from 'node:fs';
import { createZstdDecompress } from 'node:zlib';
import type postgres from 'postgres';
import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import { type Db, one } from '../db/db.ts';
import { migrate, readMigrations, schemaState } from '../db/migrate.ts';
import { Header, Mark, notBackedUp } from './format.ts';
import { listTables, type Table } from './tables.ts';

const rowsAtATime = 500;

/** What each room does to its own rows after a restore, in the same transaction. */
export type AfterRestore = (tx: postgres.ISql) => Promise<void>;

export type Restored = { rows: number; created_at: string };

type Means = {
  /** Keeps the secret key that came with the backup, before anything is written. */
  keepKey: (key: Buffer) => void;
  afterwards: readonly AfterRestore[];
};

/**
 * Fills an empty database from a backup: its migrations first, then all rows in one transaction, then
 * the migrations that are newer than the backup. A file that is cut short or damaged changes nothing.
 */
export async function restore(
  db: Db,
  file: string,
  { keepKey, afterwards }: Means,
): Promise<Restored> {
  const lines = readLines(file);
  const header = await readHeader(lines);
  await prepareSchema(db, header);
  const tables = await listTables(db, notBackedUp);
  if (header.secret_key) keepKey(Buffer.from(header.secret_key, 'base64'));

  const session = await db.reserve();
  try {
    await session`begin`;
    const rows = await fill(session, tables, lines);
    for (const step of afterwards) await step(session);
    await session`commit`;
    await migrate(db);
    return { rows, created_at: header.created_at };
  } finally {
    await session`rollback`.catch(() => {});
    session.release();
  }
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
    yield* lines;
  }
}

/** The next line; an end, a damaged file or one that cannot be read is told in a sentence. */
async function next(lines: Lines): Promise<string> {
  const { value } = await lines.next().catch((error: Error) => {
    throw unusable(error.message);
  });
  if (value === undefined) throw unusable('it ends too early');
  return value;
}

const unusable = (why: string) => new Refusal('invalid', `the backup cannot be restored: ${why}`);

function parseLine<const S extends v.GenericSchema>(schema: S, text: string): v.InferOutput<S> {
  try {
    return v.parse(schema, JSON.parse(text));
  } catch {
    throw unusable('it is not a backup made by askback, or it is damaged');
  }
}

const readHeader = async (lines: Lines) => parseLine(Header, await next(lines));

/** Makes exactly the schema that the backup was taken from. */
async function prepareSchema(db: Db, header: Header) {
  const known = new Map(readMigrations().map((migration) => [migration.name, migration]));
  const wanted = header.migrations.map(({ name, sha256 }) => {
    const migration = known.get(name);
    if (migration?.sha256 === sha256) return migration;
    throw unusable(`it was made by a newer askback (${name}), use that one`);
  });
  const { missing } = await schemaState(db, wanted);
  await migrate(db, wanted).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    throw unusable('the database has a newer schema than the backup: restore into an empty one');
  });
  if (missing.length < wanted.length) await refuseFilled(db);
}

async function refuseFilled(db: Db) {
  const { filled } = one(
    await db<{ filled: boolean }[]>`select exists (select from organizations) as filled`,
  );
  if (filled) throw unusable('the database is not empty: restore into an empty one');
}

/** The triggers rest meanwhile: what they would compute comes with the backup. */
async function fill(session: postgres.ReservedSql, tables: readonly Table[], lines: Lines) {
  for (const { table } of tables) {
    await session`alter table ${session(table)} disable trigger user`;
  }
  const rows = await fillTables(session, tables, lines);
  for (const table of tables) {
    await session`alter table ${session(table.table)} enable trigger user`;
    await continueIdentity(session, table);
  }
  return rows;
}

async function fillTables(
  session: postgres.ReservedSql,
  tables: readonly Table[],
  lines: Lines,
): Promise<number> {
  let rows = 0;
  let table: Table | undefined;
  let batch: string[] = [];
  const flush = async () => {
    if (batch.length > 0) await insertRows(session, table, batch);
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
    if ('table' in mark) table = tables.find((found) => found.table === mark.table);
    else if (mark.rows === rows) return rows;
    else throw unusable('it lost rows');
  }
}

async function insertRows(
  session: postgres.ReservedSql,
  found: Table | undefined,
  batch: readonly string[],
) {
  if (!found) throw unusable('it has rows of a table that is not there');
  const { table, columns } = found;
  await session`
    insert into ${session(table)} (${session(columns)}) overriding system value
    select ${session(columns)}
    from json_populate_recordset(null::${session(table)}, ${`[${batch.join(',')}]`}::text::json)`;
}

async function continueIdentity(session: postgres.ReservedSql, { table, identity }: Table) {
  if (!identity) return;
  await session`
    select setval(pg_get_serial_sequence(${table}, ${identity}),
                  greatest((select max(${session(identity)}) from ${session(table)}), 1))`;
}
