import { one, type Sql } from '../lib/db/db.ts';
import { likePattern } from '../lib/db/like-pattern.ts';
import type { Page } from '../lib/paging/page.ts';
import type { OrgSurvey } from '../surveys/queries.ts';

export type SurveyContact = {
  id: string;
  email: string;
  name: string | null;
  status: 'pending' | 'sending' | 'sent' | 'responded' | 'failed' | 'bounced' | 'unsubscribed';
  failure_reason: string | null;
  sent_at: Date | null;
  responded_at: Date | null;
  created_at: Date;
};

type SearchedPage = { page: Pick<Page, 'page' | 'limit'>; search: string };

/** A page of the contacts of a survey, newest first, and how many there are. */
export async function listContactsOf(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { page, search }: SearchedPage,
) {
  const pattern = likePattern(search);
  const matching = sql`
    contacts
    where org_id = ${orgId} and survey_id::text = ${surveyId}
      ${search === '' ? sql`` : sql`and (email || ' ' || coalesce(name, '')) ilike ${pattern}`}`;
  const contacts = await sql<SurveyContact[]>`
    select id, email, name, status, failure_reason, sent_at, responded_at, created_at
    from ${matching}
    order by created_at desc, id desc
    limit ${page.limit} offset ${(page.page - 1) * page.limit}`;
  const total =
    search === ''
      ? sql`select coalesce(sum(contacts), 0)::int as total from survey_tallies
            where org_id = ${orgId} and survey_id = ${surveyId}`
      : sql`select count(*)::int as total from ${matching}`;
  return { contacts: [...contacts], total: one(await sql<{ total: number }[]>`${total}`).total };
}
