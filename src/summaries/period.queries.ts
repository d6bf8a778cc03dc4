import { one, type Sql } from '../lib/db/db.ts';

export type SummaryPeriod = { start: Date; end: Date };

/**
 * When the period before began. Before whole calendar months, by the organization's clock, come as many
 * of them; before anything else, as long a time.
 */
export async function startOfPeriodBefore(
  sql: Sql,
  timeZone: string,
  { start, end }: SummaryPeriod,
) {
  return one(
    await sql<{ start: Date }[]>`
      select case
               when date_trunc('month', here.start) = here.start
                and date_trunc('month', here.end) = here.end
               then (here.start - make_interval(months => here.months)) at time zone ${timeZone}
               else ${start}::timestamptz - (${end}::timestamptz - ${start}::timestamptz)
             end as start
      from (
        select p.start, p.end,
               (12 * (extract(year from p.end) - extract(year from p.start))
                 + extract(month from p.end) - extract(month from p.start))::int as months
        from (
          select ${start}::timestamptz at time zone ${timeZone} as start,
                 ${end}::timestamptz at time zone ${timeZone} as end
        ) p
      ) here`,
  ).start;
}

export type Month = {
  id: string;
  name: string;
  time_zone: string;
  ai_enabled: boolean;
  start: Date;
  end: Date;
};

/**
 * Organizations with their last calendar month, by their own clocks, where it has no summary yet. One
 * whose clock was changed meanwhile has it all the same: its month began some hours earlier or later.
 */
const monthsDue = (sql: Sql, reportType: string) => sql`
  organizations o
  cross join lateral (
    select (date_trunc('month', now() at time zone o.time_zone) - interval '1 month')
             at time zone o.time_zone as start,
           date_trunc('month', now() at time zone o.time_zone) at time zone o.time_zone as end
  ) m
  where o.ai_enabled and o.created_at < m.end
    and not exists (
      select from summaries
      where org_id = o.id and report_type = ${reportType} and scheduled
        and period_start between m.start - interval '2 days' and m.start + interval '2 days'
    )`;

export const listMonthsDue = async (sql: Sql, reportType: string) =>
  await sql<{ org_id: string }[]>`select o.id as org_id from ${monthsDue(sql, reportType)}`;

export async function findMonthDue(sql: Sql, orgId: string, reportType: string) {
  const [month] = await sql<Month[]>`
    select o.id, o.name, o.time_zone, o.ai_enabled, m.start, m.end
    from ${monthsDue(sql, reportType)} and o.id = ${orgId}`;
  return month;
}

/** The last calendar month by an organization's own clock. */
export async function lastMonth(sql: Sql, timeZone: string): Promise<SummaryPeriod> {
  return one(
    await sql<SummaryPeriod[]>`
      select (date_trunc('month', now() at time zone ${timeZone}) - interval '1 month')
               at time zone ${timeZone} as start,
             date_trunc('month', now() at time zone ${timeZone}) at time zone ${timeZone} as end`,
  );
}

/**
 * The days that a new summary is usually asked for, by the organization's clock: from the end of the last one, or the
 * last thirty, up to yesterday, which is the last day that is over.
 */
export async function findUsualDays(sql: Sql, orgId: string, timeZone: string) {
  return one(
    await sql<{ from: string; to: string }[]>`
      select least(since, today)::text as from, greatest(least(since, today), today - 1)::text as to
      from (
        select today,
               coalesce((select (max(period_end) at time zone ${timeZone})::date from summaries where org_id = ${orgId}),
                        today - 30) as since
        from (select (now() at time zone ${timeZone})::date as today) clock
      ) known`,
  );
}

/** When a day begins by an organization's own clock. */
export async function startOfDay(sql: Sql, timeZone: string, day: string): Promise<Date> {
  return one(
    await sql<{ start: Date }[]>`
      select ${day}::text::timestamp at time zone ${timeZone} as start`,
  ).start;
}

/** When the day after it begins. */
export async function endOfDay(sql: Sql, timeZone: string, day: string): Promise<Date> {
  return one(
    await sql<{ end: Date }[]>`
      select (${day}::text::timestamp + interval '1 day') at time zone ${timeZone} as end`,
  ).end;
}
