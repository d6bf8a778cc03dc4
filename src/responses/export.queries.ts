import type { Part, Sql } from '../lib/db/db.ts';
import type { ExportFormat } from '../lib/export/answer.ts';
import {
  endsOfRanges,
  linesOfRange,
  pickRange,
  type RangesAfter,
  readLines,
} from '../lib/export/range.cte.ts';
import type { ListRange, RangeText } from '../lib/export/read-ahead.ts';
import type { Position } from '../lib/paging/page.ts';
import type { OrgId } from '../org-id.ts';
import { exportLine, sharedCells } from './export-lines.cte.ts';
import { filteredRows, type ResponseFilter } from './filter.cte.ts';
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
    with ${found(sql, orgId, filter)},
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
    with ${found(sql, orgId, filter)}
    ${endsOfRanges(sql, sourceOf(sql, orgId, filter), ranges)}`;
}

/** The CTE that the source of a search comes from; another has none and an empty one. */
const found = (sql: Sql, orgId: OrgId, filter: ResponseFilter): Part =>
  filter.pattern === null
    ? sql`no_others as (select)`
    : matched(sql, orgId, filter, filter.pattern);

const sourceOf = (sql: Sql, orgId: OrgId, filter: ResponseFilter): Part =>
  filter.pattern === null ? filteredRows(sql, orgId, filter) : sql`matched where true`;
