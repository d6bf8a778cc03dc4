import type { Sql } from '../db/db.ts';

/** Its columns are those that rows are written with: generated ones follow from them. */
export type Table = { table: string; identity: string | null; columns: string[] };

/** The service's tables, each after those it refers to, so that they can be filled in this order. */
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
  return inOrder(tables);
}

function inOrder<T extends { table: string; refers_to: string[] }>(tables: readonly T[]): T[] {
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
