import { opaque, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';
import type { Category } from '../scores.ts';
import { type Range, splitRange } from './range.ts';
import { everything, type NpsScope } from './scope.cte.ts';
import { keptDays } from './totals.queries.ts';

type CommentedRows = Pick<NpsScope, 'survey_id' | 'type' | 'audience'> & {
  category: Category | null;
  range: Range;
};

/** The responses with a comment in a range, as a source and its conditions. */
type RowsIn = (range: Range) => Part;

/**
 * How many responses have a comment, as a query of one value. Of most days that is kept; the days between these are
 * counted from the rows, in as few stretches as there are.
 */
export function countCommented(
  sql: Sql,
  orgId: OrgId,
  { scope, rowsIn }: { scope: CommentedRows; rowsIn: RowsIn },
): Part {
  const { days, edges } = splitRange(scope.range);
  const counts = edges.map((edge) => sql`(select count(*) from ${rowsIn(edge)})`);
  if (days) counts.push(countDays(sql, orgId, { scope, days, rowsIn }));
  return sql`select (${counts.reduce((before, count) => sql`${before} + ${count}`)})::int`;
}

type WholeDays = {
  scope: CommentedRows;
  days: { first: string | null; end: string | null };
  rowsIn: RowsIn;
};

const countDays = (
  sql: Sql,
  orgId: OrgId,
  { scope: { category, ...scope }, days: { first, end }, rowsIn }: WholeDays,
) => sql`(
  with commented_days as materialized (
    select day, bool_and(by_half_hour is not null) as are_known, sum(${commentedColumn(sql, category)}) as commented
    from (${keptDays(sql, orgId, { ...everything, ...scope })}) kept
    where true
      ${first ? sql`and day >= ${opaque(sql, sql`${first}::date`)}` : sql``}
      ${end ? sql`and day < ${opaque(sql, sql`${end}::date`)}` : sql``}
    group by day
  ), stretches as (
    select min(day) as first, max(day) + 1 as after_last
    from (select day, are_known, count(*) filter (where are_known) over (order by day) as place from commented_days) placed
    where not are_known
    group by place
  )
  select coalesce((select sum(commented) from commented_days where are_known), 0)
    + coalesce((
        select sum(n)
        from stretches
        cross join lateral (
          select count(*) as n
          from ${rowsIn({ from: null, to: null })}
            and r.created_at >= first::timestamp at time zone 'UTC'
            and r.created_at < after_last::timestamp at time zone 'UTC'
        ) counted
      ), 0)
)`;

const places = { promoter: 1, passive: 2, detractor: 3 } as const;

const commentedColumn = (sql: Sql, category: Category | null) =>
  category
    ? sql`commented[${places[category]}::int]`
    : sql`commented[1] + commented[2] + commented[3]`;
