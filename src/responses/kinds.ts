import type { Part, Sql } from '../lib/db/db.ts';
import type { Counted, SurveyType } from '../survey-types.ts';

type KindCounts = Counted & { responses: number; variance: number | null };

/** Scores of different scales, or of employees and customers, are never mixed. */
export type Kind = { type: SurveyType; audience: 'employee' | 'customer' };

export type CountedKind = Kind & { now: KindCounts; earlier: KindCounts };

/** Two consecutive periods. The second begins at `start`. */
export type TwoPeriods = { before: Date; start: Date; end: Date };

/** Counts of each kind in a period and the previous one. The kind with the most responses of all time comes first, as on Home. */
export async function countKinds(
  sql: Sql,
  orgId: string,
  { before, start, end }: TwoPeriods,
): Promise<CountedKind[]> {
  return await sql<CountedKind[]>`
    with kinds as (
      select s.type, coalesce(s.audience, 'customer') as audience,
             ${countsOfPeriod(sql, sql`r.created_at >= ${start}`)} as now,
             ${countsOfPeriod(sql, sql`r.created_at < ${start}`)} as earlier
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

const countsOfPeriod = (sql: Sql, when: Part) => sql`
  json_build_object(
    'responses', count(*) filter (where ${when}),
    'score_sum', coalesce(sum(r.score) filter (where ${when}), 0),
    'variance', var_samp(r.score) filter (where ${when}),
    'promoters', count(*) filter (where ${when} and r.category = 'promoter'),
    'passives', count(*) filter (where ${when} and r.category = 'passive'),
    'detractors', count(*) filter (where ${when} and r.category = 'detractor'))`;

/** `, employees` or `, customers` where the type alone would be ambiguous. */
export function audienceText({ type, audience }: Kind, kinds: readonly Kind[]): string {
  if (audience === 'employee') return ', employees';
  const hasBoth = kinds.some((kind) => kind.type === type && kind.audience === 'employee');
  return hasBoth ? ', customers' : '';
}
