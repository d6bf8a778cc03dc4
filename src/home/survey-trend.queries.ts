import type { Sql } from '../lib/db/db.ts';

export type AnsweredDays = { time_zone: string; today: string; first_day: string | null };

/** Today where the organization is, and the first day that a survey has answers of. */
export async function findAnsweredDays(sql: Sql, orgId: string, surveyId: string) {
  const [found] = await sql<AnsweredDays[]>`
    select time_zone, (now() at time zone time_zone)::date::text as today,
           (select min(day)::text
            from day_tallies
            where org_id = ${orgId} and survey_id = ${surveyId}
              and promoters + passives + detractors > 0) as first_day
    from organizations
    where id = ${orgId}`;
  return found;
}
