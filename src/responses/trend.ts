import { Refusal } from '../errors.ts';
import type { Part, Sql } from '../lib/db/db.ts';
import { readJson } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import {
  countCategories,
  countedRows,
  isTallied,
  kindConditionsByTime,
  type NpsScope,
  surveyConditions,
  wouldHaveFacets,
} from './filter.queries.ts';
import { addDays, type Instants, localDay, sinceYearZero, startOfLocalDay } from './period.ts';
import { type HeldTally, type NpsRollup, rollUp } from './rules.ts';

export async function readNps(sql: Sql, orgId: string, scope: NpsScope): Promise<NpsRollup> {
  return rollUp(await readJson<HeldTally>(sql, countCategories(sql, orgId, scope)));
}

export type NpsTrendRow = { start: string } & NpsRollup;

export const trendOf = (counted: readonly HeldTally[], { starts }: TrendRows): NpsTrendRow[] =>
  starts.map((start, row) => ({ start, ...rollUp(counted[row]!) }));

export type TrendTally = HeldTally & { score_sum: number };

type TrendOf = { scope: NpsScope; rows: TrendRows };

/** JSON array with a `TrendTally` for each row of the trend. */
export const countTrend = (sql: Sql, orgId: OrgId, { scope, rows }: TrendOf): Part => {
  const times = edgeTimes(rows);
  return sql`(
  with edges as materialized (
    select row::int, to_timestamp(t::float8 / 1000) as at
    from unnest(${`{${times.join(',')}}`}::text::bigint[]) with ordinality as d (t, row)
  ), bounds as materialized (
    select min(at) as first, max(at) as last, array_agg(at order by row) as ats from edges
  ), parts as (
    ${
      isTallied(scope)
        ? sql`${hourParts(sql, orgId, scope)} ${times.every(isHour) ? sql`` : cutHours(sql, orgId, scope)}`
        : countedParts(sql, orgId, scope)
    }
    union all
    select width_bucket(created_at, (select ats from bounds)), 0, 0, 0, 0, count(*)
    from responses r
    where org_id = ${orgId} and held_reason is not null ${surveyConditions(sql, orgId, scope)}
      ${scope.round === null ? sql`` : sql`and r.round = ${scope.round}`}
      ${wouldHaveFacets(sql, scope.facets)} ${inBounds(sql, sql`created_at`)}
    group by 1
  )
  select concat('[', string_agg(concat('{"promoters":', promoters, ',"passives":', passives, ',"detractors":', detractors,
                                       ',"score_sum":', score_sum, ',"held":', held, '}'), ',' order by row), ']')
  from (
    select row, coalesce(sum(promoters), 0)::int as promoters, coalesce(sum(passives), 0)::int as passives,
           coalesce(sum(detractors), 0)::int as detractors, coalesce(sum(score_sum), 0)::bigint as score_sum,
           coalesce(sum(held), 0)::int as held
    from generate_series(1, ${rows.starts.length}::int) row
    left join parts using (row)
    group by row
  ) tally
)`;
};

const hourMs = 3_600_000;
const isHour = (time: number) => time % hourMs === 0;

const inBounds = (sql: Sql, time: Part) =>
  sql`and ${time} >= (select first from bounds) and ${time} < (select last from bounds)`;

/** Counts an hour that an edge splits in the row before the edge. */
const hourParts = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  select width_bucket(hour, (select ats from bounds)) as row, sum(promoters) as promoters, sum(passives) as passives,
         sum(detractors) as detractors, sum(score_sum) as score_sum, 0 as held
  from hour_tallies
  where org_id = ${orgId} ${surveyConditions(sql, orgId, scope)}
    and hour >= (select hour_of(first) from bounds) and hour < (select last from bounds)
  group by 1`;

/** If an edge splits an hour, moves the responses after the edge to the next row. */
const cutHours = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  union all
  select row - 1 + side, sign * promoters, sign * passives, sign * detractors, sign * score_sum, 0
  from (
    select row, c.*
    from edges
    cross join lateral (
      select ${categoryCounts(sql)}
      from ${countedRows(sql, orgId, { ...scope, type: null, audience: null })} ${kindConditionsByTime(sql, orgId, scope)}
        and created_at >= at and created_at < hour_of(at) + interval '1 hour'
    ) c
    where at <> hour_of(at)
  ) rest
  cross join (values (0, -1), (1, 1)) as sides (side, sign)`;

const countedParts = (sql: Sql, orgId: OrgId, scope: NpsScope) => sql`
  select width_bucket(created_at, (select ats from bounds)) as row, ${categoryCounts(sql)}, 0 as held
  from ${countedRows(sql, orgId, scope)} ${inBounds(sql, sql`created_at`)}
  group by 1`;

const categoryCounts = (sql: Sql) => sql`
  count(*) filter (where category = 'promoter')  as promoters,
  count(*) filter (where category = 'passive')   as passives,
  count(*) filter (where category = 'detractor') as detractors,
  coalesce(sum(score), 0)                        as score_sum`;

const maxSample = 5_000;

type ScoresOfDays = { scope: NpsScope; from: string; to: string; timeZone: string };

/** Variance of the newest scores on the local days `from` to `to`, both inclusive. Null for fewer than two scores. */
export const sampleVariance = (
  sql: Sql,
  orgId: OrgId,
  { scope, from, to, timeZone }: ScoresOfDays,
): Part => sql`(
  select var_samp(score)::float8
  from (
    select score
    from ${countedRows(sql, orgId, scope)}
      and created_at >= ${from}::timestamp at time zone ${timeZone}
      and created_at < (${to}::date + 1)::timestamp at time zone ${timeZone}
    order by created_at desc
    limit ${maxSample}
  ) newest
)`;

type TrendDates = {
  interval: TrendInterval;
  timeZone: string;
  from: Instants | null;
  to: Instants | null;
};

/** The rows of a trend in local days. `from` and `to`, if set, replace the first and last edge. */
export type TrendRows = {
  timeZone: string;
  /** The first day of each row's week or month. */
  starts: readonly string[];
  /** The day each row counts from, then the exclusive end of the last row. */
  edges: readonly string[];
  from: Date | null;
  to: Date | null;
};

/** Includes the last day. */
const defaultDays = 90;
export function trendRows({ interval, timeZone, from, to }: TrendDates, now: Date): TrendRows {
  const lastDay = to ? (to.day ?? localDay(to.first, timeZone)) : localDay(now, timeZone);
  const firstDay = from
    ? (from.day ?? localDay(from.first, timeZone))
    : addDays(lastDay, 1 - defaultDays);

  const starts = startsOf({ interval, firstDay, lastDay });
  return {
    timeZone,
    starts,
    edges: [firstDay, ...starts.slice(1), addDays(lastDay, 1)],
    from: from && from.day === undefined ? from.first : null,
    to: to && to.day === undefined ? to.end : null,
  };
}

/** Instants in milliseconds. The last is never before the first. */
export function edgeTimes({ edges, starts, timeZone, from, to }: TrendRows): number[] {
  const times = edges.map((day) => startOfLocalDay(day, timeZone).getTime());
  if (from) times[0] = from.getTime();
  if (starts.length > 0) {
    const last = to?.getTime() ?? times.at(-1)!;
    times[starts.length] = Math.max(last, from?.getTime() ?? last);
  }
  return times;
}

export const trendIntervals = ['day', 'week', 'month'] as const;
export type TrendInterval = (typeof trendIntervals)[number];

const maxRows = 1_100;

type DaysOfTrend = { interval: TrendInterval; firstDay: string; lastDay: string };

function startsOf({ interval, firstDay, lastDay }: DaysOfTrend): string[] {
  const starts: string[] = [];
  if (firstDay > lastDay) return starts;
  let day = sinceYearZero(startOf(interval, Temporal.PlainDate.from(firstDay)));
  while (day.toString() <= lastDay) {
    if (starts.length === maxRows) throw tooManyRows();
    starts.push(day.toString());
    day = day.add({ [`${interval}s`]: 1 });
  }
  return starts;
}

export function startOf(interval: TrendInterval, day: Temporal.PlainDate): Temporal.PlainDate {
  if (interval === 'day') return day;
  return interval === 'month' ? day.with({ day: 1 }) : day.subtract({ days: day.dayOfWeek - 1 });
}

const tooManyRows = () =>
  new Refusal('invalid', `a trend has at most ${maxRows} rows: use a longer interval`, {
    code: 'too_many_rows',
  });
