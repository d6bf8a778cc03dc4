import { one, type Part, type Sql } from '../lib/db/db.ts';
import type { SurveyType, Tally } from '../scores.ts';

export type DigestPeriods = { before: Date; start: Date; end: Date };

/** The day or week that ended on that day, by the member's clock, and when the one before it began. */
export async function readDigestPeriods(
  sql: Sql,
  { unit, day, timeZone }: { unit: string; day: string; timeZone: string },
) {
  const each = sql`('1 ' || ${unit}::text)::interval`;
  return one(
    await sql<DigestPeriods[]>`
      select (${day}::timestamp - 2 * ${each}) at time zone ${timeZone} as before,
             (${day}::timestamp - ${each}) at time zone ${timeZone} as start,
             ${day}::timestamp at time zone ${timeZone} as end`,
  );
}

export type DigestCounts = Tally & { responses: number; score_sum: number };

/** What surveys of one kind got in a period, and in the one before. */
export type DigestKind = {
  type: SurveyType;
  audience: 'employee' | 'customer';
  now: DigestCounts;
  earlier: DigestCounts;
};

/** Scores of different scales, and of employees and customers, are never added up. The kind with the most responses ever comes first, as on Home. */
export async function countKinds(
  sql: Sql,
  orgId: string,
  { before, start, end }: DigestPeriods,
): Promise<DigestKind[]> {
  return await sql<DigestKind[]>`
    with kinds as (
      select s.type, coalesce(s.audience, 'customer') as audience,
             ${counted(sql, sql`r.created_at >= ${start}`)} as now,
             ${counted(sql, sql`r.created_at < ${start}`)} as earlier
      from responses r
      join surveys s on s.org_id = r.org_id and s.id = r.survey_id
      where r.org_id = ${orgId} and r.held_reason is null
        and r.created_at >= ${before} and r.created_at < ${end}
      group by 1, 2
    )
    select k.type, k.audience, k.now, k.earlier
    from kinds k
    order by (
      select sum(t.promoters + t.passives + t.detractors)
      from survey_tallies t
      join surveys s on s.org_id = t.org_id and s.id = t.survey_id
      where t.org_id = ${orgId} and s.type = k.type and coalesce(s.audience, 'customer') = k.audience
    ) desc nulls last, k.type, k.audience`;
}

const counted = (sql: Sql, when: Part) => sql`
  json_build_object(
    'responses', count(*) filter (where ${when}),
    'score_sum', coalesce(sum(r.score) filter (where ${when}), 0),
    'promoters', count(*) filter (where ${when} and r.category = 'promoter'),
    'passives', count(*) filter (where ${when} and r.category = 'passive'),
    'detractors', count(*) filter (where ${when} and r.category = 'detractor'))`;

export async function countOpenDetractors(sql: Sql, orgId: string): Promise<number> {
  const [found] = await sql<{ open: number }[]>`
    select count(*)::int as open
    from responses
    where org_id = ${orgId} and held_reason is null and state = 'open' and category = 'detractor'`;
  return found?.open ?? 0;
}
