import type { Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';

export type AskableContact = { id: string; email: string; key: string };
type AfterAddress = { after: string; atMost: number };

/** The contacts of a survey that are still to be asked, by address, after one of them. */
export async function listAskable(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { after, atMost }: AfterAddress,
) {
  return await sql<AskableContact[]>`
    select id, email, email_key as key
    from contacts
    where org_id = ${orgId} and survey_id = ${surveyId} and status in ('pending', 'failed')
      and email_key > ${after}
    order by email_key
    limit ${atMost}`;
}
