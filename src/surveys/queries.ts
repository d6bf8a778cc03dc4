import type { Part, Sql } from '../lib/db/db.ts';
import type { Page } from '../lib/paging/page.ts';
import { newest, pagedJson } from '../lib/paging/paged-json.ts';
import type { OrgId } from '../org-id.ts';
import type { Tally } from '../scores.ts';
import type { SurveyContent } from './manage.queries.ts';

/** A survey of an organization, by their ids. */
export type OrgSurvey = { orgId: string; surveyId: string };

export type SurveyRow = Tally &
  SurveyContent & {
    id: string;
    share_id: string;
    status: SurveyStatus;
    sent_count: number;
    response_count: number;
    score_sum: number;
    created_at: Date;
    updated_at: Date;
  };

export type SurveyStatus = 'draft' | 'active' | 'completed';

/** A page of the organization's surveys, newest first. */
export const listSurveys = (sql: Sql, orgId: OrgId, page: Page) =>
  pagedJson(sql, {
    picked: newest(sql, { rows: sql`surveys where org_id = ${orgId}`, columns: listed(sql) }, page),
    item: sql`
      -- organization: caller
      cross join lateral (
        select coalesce(sum(sent), 0)::int                               as sent_count,
               coalesce(sum(promoters + passives + detractors), 0)::int as response_count
        from survey_tallies
        where survey_id = p.id
      ) t
      cross join lateral (
        select p.id, p.name, p.question_text, p.from_name, p.from_email, p.status, p.type, p.audience,
               t.sent_count, t.response_count, iso(p.created_at) as created_at, iso(p.updated_at) as updated_at
      ) item`,
    total: sql`select count(*) from surveys where org_id = ${orgId}`,
    page,
  });

const listed = (sql: Sql) => sql`
  id, name, question_text, from_name, from_email, status, type, audience, created_at, updated_at`;

/** The column `survey_name` of an item, looked up for each: a join might read all surveys of the organization. */
export const nameOfSurvey = (sql: Sql, orgId: OrgId, item: Part): Part => sql`
  (select name from surveys where org_id = ${orgId} and id = ${item}.survey_id) as survey_name`;

export async function findSurvey(
  sql: Sql,
  orgId: string,
  id: string,
): Promise<SurveyRow | undefined> {
  const [row] = await sql<SurveyRow[]>`${selectSurvey(sql, orgId, id)}`;
  return row;
}

/** The same as JSON, with its times as Postgres writes them. */
export const surveyJson = (sql: Sql, orgId: OrgId, id: string): Part => sql`(
  select row_to_json(survey)::text from (${selectSurvey(sql, orgId, id)}) survey
)`;

const selectSurvey = (sql: Sql, orgId: OrgId, id: string) => sql`
  -- organization: caller
  select s.id, s.name, s.question_text, s.from_name, s.from_email, s.reply_to, s.status, s.type,
         s.audience, s.language, s.subject, s.intro, s.follow_up, s.thanks, s.texts, s.reminders,
         s.ask_after_days, s.send_window, s.embed, s.share_id,
         t.sent as sent_count, t.promoters + t.passives + t.detractors as response_count,
         t.promoters, t.passives, t.detractors, t.score_sum, s.created_at, s.updated_at
  from surveys s
  cross join lateral (
    select coalesce(sum(sent), 0)::int         as sent,
           coalesce(sum(promoters), 0)::int    as promoters,
           coalesce(sum(passives), 0)::int     as passives,
           coalesce(sum(detractors), 0)::int   as detractors,
           coalesce(sum(score_sum), 0)::float8 as score_sum
    from survey_tallies
    where survey_id = s.id
  ) t
  where s.org_id = ${orgId} and s.id = ${id}`;

export type SurveyState = { status: SurveyStatus; completed_by: 'answers' | 'hand' | null };

/**
 * Locks the survey for a response that may be its last: waits until the responses that are being recorded
 * are committed, and keeps others waiting until the caller's transaction ends.
 */
export async function lockForLastResponse(sql: Sql, orgId: string, id: string) {
  await sql`
    select from surveys
    where org_id = ${orgId} and id = ${id}
    for update`;
}

/**
 * The survey's state, locked until the caller's transaction ends: it does not complete, reopen or close
 * meanwhile.
 */
export async function lockSurvey(
  sql: Sql,
  orgId: string,
  id: string,
): Promise<SurveyState | undefined> {
  const [row] = await sql<SurveyState[]>`
    select status, completed_by
    from surveys
    where org_id = ${orgId} and id = ${id}
    for no key update`;
  return row;
}

/** Until the transaction ends no person of the organization is erased. To be called before the lock of a survey. */
export async function holdOffErasures(sql: Sql, orgId: string) {
  await sql`select hold_off_erasures(${orgId})`;
}

/** Opens a survey that completed by itself; one that was closed by hand stays closed. */
export async function reopenSurvey(sql: Sql, orgId: string, id: string) {
  await sql`
    update surveys
    set status = 'active', completed_by = null, completed_at = null, updated_at = now()
    where org_id = ${orgId} and id = ${id} and completed_by = 'answers'`;
}

/** Makes one row of the slots of each survey's totals, and of each past hour's. */
export async function foldTallies(sql: Sql) {
  await sql`call fold_tallies()`;
}
