import type { Part, Sql } from '../lib/db/db.ts';
import type { ExportFormat } from '../lib/export/answer.ts';
import type { ListRange, RangeText } from '../lib/export/read-ahead.ts';
import type { Position } from '../lib/paging/page.ts';
import type { OrgId } from '../org-id.ts';
import { exportLine, sharedCells } from './export-lines.cte.ts';
import { foundRows } from './facet-sets.cte.ts';
import { filteredRows, type ResponseFilter } from './filter.cte.ts';
import { readsSets, setRows } from './filter-sets.cte.ts';
import { itemJoins, matched, rowOf } from './queries.ts';

type ExportStep = ListRange<Position> & { filter: ResponseFilter; format: ExportFormat };

/** What the limit below says. */
export const longestRange = 4000;

/**
 * The lines of a range of the list, of a longer one those of its beginning. A limit in the text lets Postgres plan once
 * for all ranges.
 */
export async function readRange(
  sql: Sql,
  orgId: OrgId,
  { filter, format, after, until }: ExportStep,
): Promise<RangeText<Position>> {
  const [found] = await sql<{ text: string; rows: number; at: string; id: string }[]>`
    with ${rowsAfter(sql, orgId, { filter, after, limit: longestRange })},
    picked as materialized (
      select *
      from ${sourceOf(sql, orgId, filter)} ${later(sql, after)}
        ${until ? sql`and (created_at, id) >= ${place(sql, until)}` : sql``}
      order by created_at desc, id desc
      limit 4000
    ), last as (
      select created_at::text as at, id from picked order by created_at, id limit 1
    ),
    ${sharedCells(sql, orgId, format)}
    select coalesce(string_agg(${exportLine(sql, format)}, '' order by p.created_at desc, p.id desc), '') as text,
           count(*)::int as rows, ${ofFull(sql, 'at')}, ${ofFull(sql, 'id')}
    from picked p ${rowOf(sql, orgId, filter)}
    left join named on named.id = r.survey_id
    left join tagged on tagged.response_id = r.id
    ${itemJoins(sql)}`;
  const { text, rows, at, id } = found!;
  return { text, last: rows === longestRange ? { at, id } : undefined };
}

/** Of the last row, found only for a range that may have more. */
const ofFull = (sql: Sql, column: 'at' | 'id') =>
  sql`case when count(*) = 4000 then (select ${sql(column)} from last) end as ${sql(column)}`;

type Division = { filter: ResponseFilter; after: Position | null; many: number; rows: number };

/** Where the ranges of so many rows after a position end: as many as are asked for, or as the list has. */
export async function divideResponses(
  sql: Sql,
  orgId: OrgId,
  { filter, after, many, rows }: Division,
): Promise<Position[]> {
  const limit = many * rows;
  return await sql<Position[]>`
    with ${rowsAfter(sql, orgId, { filter, after, limit })},
    numbered as (
      select created_at, id, row_number() over (order by created_at desc, id desc) as n
      from (
        select created_at, id
        from ${sourceOf(sql, orgId, filter)} ${later(sql, after)}
        order by created_at desc, id desc
        limit ${limit}::int
      ) next
    )
    select created_at::text as at, id from numbered where n % ${rows}::int = 0 order by n`;
}

type RowsAfter = { filter: ResponseFilter; after: Position | null; limit: number };

/** The CTEs that the source of a search, or of what sets find, comes from; another has none and an empty one. */
function rowsAfter(sql: Sql, orgId: OrgId, { filter, after, limit }: RowsAfter): Part {
  if (filter.pattern !== null) return matched(sql, orgId, filter, filter.pattern);
  if (!readsSets(filter)) return sql`no_others as (select)`;
  const page = { offset: 0, limit, after: after ?? undefined };
  return foundRows(sql, orgId, { ...setRows(sql, orgId, filter), page, counts: false });
}

function sourceOf(sql: Sql, orgId: OrgId, filter: ResponseFilter): Part {
  if (filter.pattern !== null) return sql`matched where true`;
  return readsSets(filter) ? sql`found where true` : filteredRows(sql, orgId, filter);
}

const later = (sql: Sql, after: Position | null) =>
  after ? sql`and (created_at, id) < ${place(sql, after)}` : sql``;

const place = (sql: Sql, { at, id }: Position) => sql`(${at}::text::timestamptz, ${id}::uuid)`;
