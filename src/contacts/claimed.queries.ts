import type { Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';

/** Shows on contacts that their mail is claimed. What failed before stays known until the outcome. */
export async function markClaimed(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  ids: readonly string[],
) {
  await sql`
    update contacts c
    set status = 'sending', updated_at = now()
    from (${lockedInOrder(sql, { orgId, surveyId }, ids)}) held
    where c.org_id = ${orgId} and c.id = held.id and c.status in ('pending', 'failed')`;
}

/** Gives contacts whose mail was withdrawn the status they had before. */
export async function markUnclaimed(sql: Sql, survey: OrgSurvey, ids: readonly string[]) {
  await sql`
    update contacts c
    set status = case when c.failure_reason is null then 'pending' else 'failed' end, updated_at = now()
    from (${lockedInOrder(sql, survey, ids)}) held
    where c.org_id = ${survey.orgId} and c.id = held.id and c.status = 'sending'`;
}

/** Locked in the order in which mailing locks them. */
const lockedInOrder = (sql: Sql, { orgId, surveyId }: OrgSurvey, ids: readonly string[]) => sql`
  select l.id
  from unnest(${[...ids]}::uuid[]) as given (id)
  join contacts l on l.id = given.id
  where l.org_id = ${orgId} and l.survey_id = ${surveyId}
  order by l.email_key, l.id
  for no key update of l`;
