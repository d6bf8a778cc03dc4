import { orNotFound } from '../errors.ts';
import { json, likePattern, one, type Part, type Sql } from '../lib/db/db.ts';
import { type Page, pagedJson } from '../lib/paging/page.ts';
import { addressPattern } from '../lib/smtp/address.ts';
import type { OrgId } from '../limits.ts';
import type { Question } from '../questions/definition.ts';
import type { SurveyType, Tally } from '../survey-types.ts';
import type { Embedding, Reminder, Repeat, SendWindow } from './schemas.ts';
import type { SurveyTexts, TextsByLanguage } from './texts.ts';

export type SurveyStatus = 'draft' | 'active' | 'completed';

export type OrgSurvey = { orgId: string; surveyId: string };

export type SurveyContent = SurveyTexts & {
  language: string;
  texts: TextsByLanguage;
  questions: Question[];
  name: string;
  from_name: string;
  from_email: string;
  reply_to: string;
  type: SurveyType;
  audience: 'employee' | null;
  reminders: Reminder[];
  ask_after_days: number | null;
  send_window: SendWindow | null;
  repeat: Repeat | null;
  embed: Partial<Embedding>;
};

type SurveyState = { status: SurveyStatus; completed_by: 'answers' | 'hand' | null };

export type ManagedSurvey = SurveyContent &
  SurveyState & {
    id: string;
    org_id: string;
    share_id: string;
    created_at: Date;
    updated_at: Date;
  };

type ResponseCounts = { sent_count: number; response_count: number };

export type SurveyRow = ManagedSurvey & ResponseCounts & Tally & { score_sum: number };

const fields = (sql: Sql) => sql`
  id, org_id, name, type, audience, status, completed_by, question_text, subject, language, intro,
  follow_up, thanks, texts, questions, from_name, from_email, reply_to, reminders, ask_after_days, send_window,
  repeat, embed, share_id, created_at, updated_at`;

const sums = (sql: Sql) => sql`
  coalesce(sum(promoters), 0)::int    as promoters,
  coalesce(sum(passives), 0)::int     as passives,
  coalesce(sum(detractors), 0)::int   as detractors,
  coalesce(sum(score_sum), 0)::float8 as score_sum,
  coalesce(sum(contacts), 0)::int     as contacts,
  coalesce(sum(sent), 0)::int         as sent,
  coalesce(sum(responded), 0)::int    as responded`;

/** Joins survey `s` with the sums of its tallies as `t`. */
const joinSums = (sql: Sql, orgId: OrgId) => sql`
  cross join lateral (
    select ${sums(sql)}
    from survey_tallies
    where org_id = ${orgId} and survey_id = s.id
  ) t`;

const responseCounts = (sql: Sql) => sql`
  t.sent as sent_count, t.promoters + t.passives + t.detractors as response_count`;

export type CompletedSurvey = Tally & {
  name: string;
  contacts: number;
  responded: number;
  completed_at: Date;
};

/** By answers, completes only an active survey whose contacts have all answered. */
export async function completeSurvey(
  sql: Sql,
  orgId: string,
  { surveyId, by }: { surveyId: string; by: 'answers' | 'hand' },
) {
  const [survey] = await sql<CompletedSurvey[]>`
    with ${totals(sql, orgId, surveyId)}
    update surveys s
    set status = 'completed', completed_by = ${by},
        completed_at = coalesce(s.completed_at, now()), updated_at = now()
    from totals t
    where s.org_id = ${orgId} and s.id = ${surveyId}
      ${by === 'hand' ? sql`` : sql`and s.status = 'active' and t.contacts > 0 and t.contacts = t.responded`}
    returning s.name, t.*, s.completed_at`;
  return survey;
}

const totals = (sql: Sql, orgId: string, surveyId: string) => sql`
  totals as (
    select ${sums(sql)} from survey_tallies where org_id = ${orgId} and survey_id = ${surveyId}
  )`;

export type ReachedContacts = { contacts: number; sent: number; responded: number };

export async function countReached(sql: Sql, orgId: string, surveyId: string) {
  return one(
    await sql<ReachedContacts[]>`
      with ${totals(sql, orgId, surveyId)}
      select contacts, sent, responded from totals`,
  );
}

export type ScoreCount = { score: number; count: number };

/** Counts responses per score, with the time of the first one. An index-only query. */
export async function countScores(
  sql: Sql,
  orgId: string,
  { surveyId, since }: { surveyId: string; since: Date | null },
) {
  return await sql<(ScoreCount & { first_at: Date })[]>`
    select score, count(*)::int as count, min(created_at) as first_at
    from responses
    where org_id = ${orgId} and survey_id = ${surveyId} and held_reason is null
      ${since ? sql`and created_at >= ${since}` : sql``}
    group by score`;
}

export type ListedSurvey = Tally &
  ReachedContacts &
  Pick<
    ManagedSurvey,
    'id' | 'name' | 'question_text' | 'type' | 'audience' | 'status' | 'created_at'
  > & {
    score_sum: number;
  };

export type SurveyListFilter = { search: string; status?: SurveyStatus | undefined };
type ListPage = SurveyListFilter & { page: number; limit: number };

export async function pageOfSurveys(sql: Sql, orgId: string, list: ListPage) {
  const { page, limit, search, status } = list;
  const matching = sql`
    ${search === '' ? sql`` : sql`and name ilike ${likePattern(search)}`}
    ${status ? sql`and status = ${status}` : sql``}`;
  const [surveys, { total }] = await Promise.all([
    sql<ListedSurvey[]>`
      select s.*, t.*
      from (
        select id, name, question_text, type, audience, status, created_at
        from surveys
        where org_id = ${orgId} ${matching}
        order by created_at desc, id desc
        limit ${limit} offset ${(page - 1) * limit}
      ) s
      ${joinSums(sql, orgId)}
      order by s.created_at desc, s.id desc`,
    sql<{ total: number }[]>`
      select count(*)::int as total from surveys where org_id = ${orgId} ${matching}`.then(one),
  ]);
  return { surveys, total };
}

export const listSurveys = (sql: Sql, orgId: OrgId, page: Page) =>
  pagedJson(sql, page, {
    rows: sql`surveys where org_id = ${orgId}`,
    columns: sql`
      id, name, question_text, from_name, from_email, status, type, audience, created_at, updated_at`,
    item: sql`
      cross join lateral (select p.id) s
      ${joinSums(sql, orgId)}
      cross join lateral (
        select p.id, p.name, p.question_text, p.from_name, p.from_email, p.status, p.type, p.audience,
               ${responseCounts(sql)}, iso(p.created_at) as created_at, iso(p.updated_at) as updated_at
      ) item`,
  });

/** Looks up `survey_name` per item, because a join could read all surveys of the organization. */
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

export const selectSurveyJson = (sql: Sql, orgId: OrgId, id: string): Part => sql`(
  select row_to_json(survey)::text from (${selectSurvey(sql, orgId, id)}) survey
)`;

const selectSurvey = (sql: Sql, orgId: OrgId, id: string) => sql`
  select ${fields(sql)}, ${responseCounts(sql)}, t.promoters, t.passives, t.detractors, t.score_sum
  from surveys s ${joinSums(sql, orgId)}
  where s.org_id = ${orgId} and s.id = ${id}`;

export async function allSurveys(sql: Sql, orgId: string) {
  return await sql<(ManagedSurvey & ResponseCounts)[]>`
    select ${fields(sql)}, ${responseCounts(sql)}
    from surveys s ${joinSums(sql, orgId)}
    where s.org_id = ${orgId}
    order by s.created_at desc, s.id desc`;
}

/** The sender of the newest survey. */
export async function findLatestSender(sql: Sql, orgId: string) {
  const [sender] = await sql<Pick<ManagedSurvey, 'from_name' | 'from_email' | 'reply_to'>[]>`
    select from_name, from_email, reply_to
    from surveys
    where org_id = ${orgId}
    order by created_at desc, id desc
    limit 1`;
  return sender;
}

/** For the command line, which may use the surveys of all organizations. */
export async function getSurvey(sql: Sql, id: string): Promise<ManagedSurvey> {
  const [row] = await sql<ManagedSurvey[]>`
    -- all organizations
    select ${fields(sql)} from surveys where id = ${id}`;
  return orNotFound(row, 'survey');
}

/** `lock` blocks changes, or changes and answers, until the transaction ends. */
export async function getOrgSurvey(
  sql: Sql,
  orgId: string,
  id: string,
  lock?: 'changes' | 'answers',
): Promise<ManagedSurvey> {
  const locks = { changes: sql`for no key update`, answers: sql`for update` };
  const [row] = await sql<ManagedSurvey[]>`
    select ${fields(sql)} from surveys where org_id = ${orgId} and id = ${id} ${lock ? locks[lock] : sql``}`;
  return orNotFound(row, 'survey');
}

/** Waits for responses in flight and blocks new ones, so that the last response sees all others. */
export async function lockForLastResponse(sql: Sql, orgId: string, id: string) {
  await sql`
    select from surveys
    where org_id = ${orgId} and id = ${id}
    for update`;
}

/** Locks the status until the transaction ends. */
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

/** Blocks erasures of the organization until the transaction ends. Call it before locking a survey. */
export async function holdOffErasures(sql: Sql, orgId: string) {
  await sql`select hold_off_erasures(${orgId})`;
}

/** Reopens a survey that completed when all contacts had answered. A survey closed by hand stays closed. */
export async function reopenSurvey(sql: Sql, orgId: string, id: string) {
  await sql`
    update surveys
    set status = 'active', completed_by = null, completed_at = null, updated_at = now()
    where org_id = ${orgId} and id = ${id} and completed_by = 'answers'`;
}

/** Returns undefined if the status of the survey is not `from`. */
export async function activate(sql: Sql, orgId: string, id: string, from: 'draft' | 'completed') {
  const [row] = await sql<ManagedSurvey[]>`
    update surveys
    set status = 'active', completed_by = null, completed_at = null, updated_at = now()
    where org_id = ${orgId} and id = ${id} and status = ${from}
    returning ${fields(sql)}`;
  return row;
}

export async function foldTallies(sql: Sql) {
  await sql`call fold_tallies()`;
}

export type SurveyChanges = Partial<SurveyContent> & { status?: 'draft' | 'active' };

type NewSurvey = SurveyChanges & Pick<ManagedSurvey, 'name' | 'share_id'> & { created_at?: Date };

export async function insertSurvey(sql: Sql, orgId: string, survey: NewSurvey) {
  const sinceNow = (setting: unknown) => (setting == null ? null : new Date());
  const row = {
    org_id: orgId,
    ask_after_days_since: sinceNow(survey.ask_after_days),
    repeat_since: sinceNow(survey.repeat),
    ...toColumns(sql, survey),
  };
  return one(
    await sql<ManagedSurvey[]>`
      insert into surveys ${sql(row)}
      returning ${fields(sql)}`,
  );
}

const jsonColumns = new Set([
  'follow_up',
  'thanks',
  'texts',
  'questions',
  'reminders',
  'send_window',
  'repeat',
  'embed',
]);

/** Marks JSON columns, because a plain string is valid JSON too. */
const toColumns = (sql: Sql, values: Partial<NewSurvey>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      jsonColumns.has(name) && value !== null ? json(sql, value as object) : value,
    ]),
  ) as Record<string, string>;

/**
 * Needs at least one change. Existing contacts are asked `ask_after_days` after the change of that setting. Rounds that
 * were due before a change of `repeat` are spread over the days after the change.
 */
export async function updateSurvey(
  sql: Sql,
  { org_id: orgId, id }: Pick<ManagedSurvey, 'org_id' | 'id'>,
  changes: SurveyChanges,
): Promise<ManagedSurvey> {
  const days = changes.ask_after_days;
  const since =
    days === undefined
      ? sql``
      : sql`, ask_after_days_since = case when ${days}::int is not null
                then case when ask_after_days = ${days}::int then ask_after_days_since else now() end end`;
  const { repeat } = changes;
  const repeatSince =
    repeat === undefined
      ? sql``
      : sql`, repeat_since = case when ${repeat !== null}
                then case when repeat - 'per_day' = ${json(sql, repeat ?? {})}::jsonb - 'per_day'
                       then repeat_since else now() end end`;
  return one(
    await sql<ManagedSurvey[]>`
      update surveys
      set ${sql(toColumns(sql, changes))}, updated_at = now() ${since} ${repeatSince}
      where org_id = ${orgId} and id = ${id}
      returning ${fields(sql)}`,
  );
}

/** Two `exists`, because counted and held responses have separate indexes. */
export async function findUse(sql: Sql, orgId: string, id: string) {
  return one(
    await sql<{ answered: boolean; mailed: boolean }[]>`
      select exists (select from responses
                     where org_id = ${orgId} and survey_id = ${id} and held_reason is null)
             or exists (select from responses
                        where org_id = ${orgId} and survey_id = ${id} and held_reason is not null)
               as answered,
             exists (select from mails
                     where org_id = ${orgId} and survey_id = ${id} and blocks_resend) as mailed`,
  );
}

/** Cascades to contacts, emails, answers and totals. Large surveys need a long timeout. */
export async function deleteSurveyRow(sql: Sql, orgId: string, id: string) {
  await sql`select set_config('statement_timeout', '20min', true)`;
  await sql`delete from surveys where org_id = ${orgId} and id = ${id}`;
}

/** Erases an address: replaces it with `[email]` in the audiences of rounds. */
export async function hideInRounds(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
) {
  await sql`
    update surveys
    set repeat = hide_address(repeat::text, ${key})::jsonb
    where org_id = ${orgId} and created_at < coalesce(${before}::timestamptz, 'infinity')
      and repeat::text ~* ${addressPattern(key)}`;
}
