import type { Part, Sql } from '../lib/db/db.ts';
import type { ExportFormat } from '../lib/export/answer.ts';
import {
  endsOfRanges,
  linesOfRange,
  longestRange,
  pickRange,
  type RangesAfter,
  readLines,
} from '../lib/export/range.cte.ts';
import type { ListRange, RangeText } from '../lib/export/read-ahead.ts';
import type { Position } from '../lib/paging/page.ts';
import type { OrgId } from '../org-id.ts';
import { exportLine, sharedCells } from './export-lines.cte.ts';
import { foundRows } from './facet-sets.cte.ts';
import { filteredRows, type ResponseFilter } from './filter.cte.ts';
import { readsSets, setRows } from './filter-sets.cte.ts';
import { itemJoins } from './item.cte.ts';
import { matched, rowOf } from './queries.ts';

type ExportStep = ListRange<Position> & { filter: ResponseFilter; format: ExportFormat };

/** The lines of a range of the list, of a longer one those of its beginning. */
export async function readRange(
  sql: Sql,
  orgId: OrgId,
  { filter, format, ...range }: ExportStep,
): Promise<RangeText<Position>> {
  return await readLines(sql`
    with ${rowsAfter(sql, orgId, { filter, after: range.after, limit: longestRange })},
    ${pickRange(sql, sourceOf(sql, orgId, filter), range)},
    ${sharedCells(sql, orgId, format)}
    select ${linesOfRange(sql, exportLine(sql, format))}
    from picked p ${rowOf(sql, orgId, filter)}
    left join named on named.id = r.survey_id
    left join tagged on tagged.response_id = r.id
    ${itemJoins(sql)}`);
}

type Division = RangesAfter & { filter: ResponseFilter };

/** Where the ranges after a position end. */
export async function divideResponses(
  sql: Sql,
  orgId: OrgId,
  { filter, ...ranges }: Division,
): Promise<Position[]> {
  return await sql<Position[]>`
    with ${rowsAfter(sql, orgId, { filter, after: ranges.after, limit: ranges.many * ranges.rows })}
    ${endsOfRanges(sql, sourceOf(sql, orgId, filter), ranges)}`;
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
