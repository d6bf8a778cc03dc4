import type { Sql } from '../lib/db/db.ts';
import type { Tally } from '../scores.ts';

export type CompletedSurvey = Tally & {
  name: string;
  contacts: number;
  responded: number;
  completed_at: Date;
};

/** Marks an active survey completed when all of its contacts, at least one, have answered. */
export async function completeAnswered(sql: Sql, orgId: string, surveyId: string) {
  const [survey] = await sql<CompletedSurvey[]>`
    with ${totals(sql, orgId, surveyId)}
    update surveys s
    set status = 'completed', completed_by = 'answers', completed_at = now(), updated_at = now()
    from totals t
    where s.org_id = ${orgId} and s.id = ${surveyId} and s.status = 'active'
      and t.contacts > 0 and t.contacts = t.responded
    returning s.name, t.*, s.completed_at`;
  return survey;
}

export type ClosedSurvey = CompletedSurvey & {
  was: 'draft' | 'active' | 'completed';
  /** By hand, before this. */
  was_closed: boolean;
};

/** Closes a survey by hand, whatever its state; closing it again changes nothing. */
export async function closeByHand(sql: Sql, orgId: string, surveyId: string) {
  const [survey] = await sql<ClosedSurvey[]>`
    with ${totals(sql, orgId, surveyId)},
    before as (
      select status as was, completed_by is not distinct from 'hand' as was_closed
      from surveys
      where org_id = ${orgId} and id = ${surveyId}
      for no key update
    )
    update surveys s
    set status = 'completed', completed_by = 'hand',
        completed_at = coalesce(s.completed_at, now()), updated_at = now()
    from totals t, before
    where s.org_id = ${orgId} and s.id = ${surveyId}
    returning s.name, t.*, s.completed_at, before.was, before.was_closed`;
  return survey;
}

const totals = (sql: Sql, orgId: string, surveyId: string) => sql`
  totals as (
    select coalesce(sum(promoters), 0)::int  as promoters,
           coalesce(sum(passives), 0)::int   as passives,
           coalesce(sum(detractors), 0)::int as detractors,
           coalesce(sum(contacts), 0)::int   as contacts,
           coalesce(sum(responded), 0)::int  as responded
    from survey_tallies
    where org_id = ${orgId} and survey_id = ${surveyId}
  )`;
