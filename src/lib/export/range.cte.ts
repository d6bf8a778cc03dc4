// The ranges of a list, newest first, that `readAhead` reads: what all statements on them have in common.

import { one, type Part, type Sql } from '../db/db.ts';
import type { ListRange, RangeText } from './read-ahead.ts';

/** The time keeps its microseconds, as text. */
type RowPosition = { at: string; id: string };

/** What the limit below says. */
export const longestRange = 4000;
/** As many may come into a range before it is read; of more, it is read in several steps. */
export const rowsOfRange = longestRange / 2;

/**
 * The CTEs `picked`, the rows of a range of a table with its conditions, of a longer one those of its beginning, and
 * `last`, its last one. A limit in the text lets Postgres plan once for all ranges.
 */
export const pickRange = (
  sql: Sql,
  source: Part,
  { after, until }: ListRange<RowPosition>,
): Part => sql`
  picked as materialized (
    select *
    from ${source} ${later(sql, after)}
      ${until ? sql`and (created_at, id) >= ${place(sql, until)}` : sql``}
    order by created_at desc, id desc
    limit 4000
  ), last as (
    select created_at::text as at, id from picked order by created_at, id limit 1
  )`;

/** The columns that `readLines` reads, of picked rows `p`. The last row is found only for a range that may have more. */
export const linesOfRange = (sql: Sql, line: Part): Part => sql`
  coalesce(string_agg(${line}, '' order by p.created_at desc, p.id desc), '') as text,
  count(*)::int as rows,
  case when count(*) = 4000 then (select at from last) end as at,
  case when count(*) = 4000 then (select id from last) end as id`;

/** The lines go on as the bytes that Postgres sends: to make a text of them and bytes again costs more than passing them on. */
export async function readLines(statement: Part): Promise<RangeText<RowPosition>> {
  const [text, rows, at, id] = one(await statement.raw()) as Buffer[];
  const last = Number(rows) === longestRange && { at: String(at), id: String(id) };
  return { text: text!, last: last || undefined };
}

export type RangesAfter = { after: RowPosition | null; many: number; rows: number };

/** A query of the positions at which the next ranges of so many rows end: as many as are asked for, or as the list has. */
export const endsOfRanges = (
  sql: Sql,
  source: Part,
  { after, many, rows }: RangesAfter,
): Part => sql`
  select created_at::text as at, id
  from (
    select created_at, id, row_number() over (order by created_at desc, id desc) as n
    from (
      select created_at, id
      from ${source} ${later(sql, after)}
      order by created_at desc, id desc
      limit ${many * rows}::int
    ) next
  ) numbered
  where n % ${rows}::int = 0
  order by n`;

const later = (sql: Sql, after: RowPosition | null) =>
  after ? sql`and (created_at, id) < ${place(sql, after)}` : sql``;

const place = (sql: Sql, { at, id }: RowPosition) => sql`(${at}::text::timestamptz, ${id}::uuid)`;
