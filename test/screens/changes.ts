import type { Db } from '../../src/lib/db/db.ts';
import { withNames } from './scene/names.ts';

type Row = Readonly<Record<string, unknown>>;
type Rows = ReadonlyMap<string, { table: string; row: Row }>;
type Table = { name: string; key: string[] };

/** Watches all rows of a database: each call answers with what has changed since the one before, a line for each row. */
export async function watchRows(db: Db): Promise<() => Promise<string[]>> {
  const tables = await listTables(db);
  let before = await readRows(db, tables);
  return async () => {
    const now = await readRows(db, tables);
    const lines = changesBetween(before, now);
    before = now;
    return lines;
  };
}

/**
 * Those that stand for themselves, with the columns that name a row of theirs; without tallies, whose rows depend on the
 * connection, and what changes with the moment.
 */
async function listTables(db: Db): Promise<Table[]> {
  return await db<Table[]>`
    select c.relname as name, coalesce(k.key, '{}') as key
    from pg_class c
    left join lateral (
      select array_agg(a.attname::text order by array_position(i.indkey::int[], a.attnum::int)) as key
      from pg_index i
      join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
      where i.indrelid = c.oid and i.indisprimary
    ) k on true
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('rate_windows', 'organization_writes')
      and not exists (select from pg_attribute where attrelid = c.oid and attname = 'slot')
    order by c.relname`;
}

async function readRows(db: Db, tables: readonly Table[]): Promise<Rows> {
  const read = tables.map(
    ({ name }) => `select '${name}' as "table", to_jsonb(t) as row from ${name} t`,
  );
  const found = await db.unsafe<{ table: string; row: Row }[]>(read.join(' union all '));
  const keyOf = new Map(tables.map(({ name, key }) => [name, key]));
  return new Map(
    found.map(({ table, row }) => {
      const key = keyOf.get(table)!;
      const shown = Object.fromEntries(
        Object.entries(row).map(([column, value]) => [column, byLot.has(column) ? 'LOT' : value]),
      );
      const name = key.length > 0 ? key.map((column) => row[column]) : row;
      return [`${table} ${JSON.stringify(name)}`, { table, row: shown }];
    }),
  );
}

const byLot = new Set(['token', 'share_id', 'public_id']);

/** Without what is drawn by lot: words of links, and what is sealed or hashed with salt. */
const stable = (line: string) =>
  line
    .replace(/"\\\\x([\da-f]*)"/g, (_, bytes) => `"${bytes.length / 2} bytes"`)
    .replace(/"sealed":"[^"]*"/g, '"sealed":"LOT"')
    .replace(/\$[\w+/]{22}\$[\w+/]{43}/g, '$LOT');

function changesBetween(before: Rows, now: Rows): string[] {
  const lines: string[] = [];
  for (const [name, { table, row }] of now) {
    const old = before.get(name)?.row;
    if (!old) lines.push(`+ ${table} ${JSON.stringify(filled(row))}`);
    else if (JSON.stringify(old) !== JSON.stringify(row))
      lines.push(`~ ${name} ${differing(old, row)}`);
  }
  for (const name of before.keys()) if (!now.has(name)) lines.push(`- ${name}`);
  return lines.map((line) => withNames(stable(line))).toSorted();
}

const filled = (row: Row) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

const differing = (old: Row, row: Row) =>
  Object.keys(row)
    .filter((column) => JSON.stringify(old[column]) !== JSON.stringify(row[column]))
    .map((column) => `${column}: ${JSON.stringify(old[column])} → ${JSON.stringify(row[column])}`)
    .join(', ');
