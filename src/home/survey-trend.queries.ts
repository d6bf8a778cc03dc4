import type { Sql } from '../lib/db/db.ts';

export type AnsweredDays = { time_zone: string; today: string; first_day: string | null };

/**
 * Today where the organization is, and the first day of a survey that has answers: the day of the first of them, or of
 * the first mail before it, so that all who were asked are counted.
 */
export async function findAnsweredDays(sql: Sql, orgId: string, surveyId: string) {
  const [found] = await sql<AnsweredDays[]>`
    select time_zone, (now() at time zone time_zone)::date::text as today,
           case when answered.day is not null then least(answered.day, asked.day)::text end as first_day
    from organizations
    cross join lateral (
      select (min(t.hour) at time zone time_zone)::date as day
      from hour_tallies t
      where t.org_id = ${orgId} and t.survey_id = ${surveyId}
        and t.promoters + t.passives + t.detractors > 0
    ) answered
    cross join lateral (
      select (min(t.quarter) at time zone time_zone)::date as day
      from asked_tallies t
      where t.org_id = ${orgId} and t.survey_id = ${surveyId} and t.asked > 0
    ) asked
    where id = ${orgId}`;
  return found;
}
