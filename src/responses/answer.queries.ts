import { markAnswered, type PeopleToRedact, peopleToRedact } from '../contacts/queries.ts';
import type { NewJob } from '../jobs.ts';
import { asyncCommit, json, lockTimeout, type Part, type Sql } from '../lib/db/db.ts';
import type { StoredAnswers } from '../questions/check-answers.ts';
import type { Question } from '../questions/definition.ts';
import type { Category, SurveyType } from '../survey-types.ts';
import type { Embedding } from '../surveys/schemas.ts';
import type { AddressedPerson, SurveyTexts, TextsByLanguage } from '../surveys/texts.ts';
import { type EmittedDelivery, emission, type NewEvents } from '../webhooks/emit.ts';
import type { LinkVisit } from './rules.ts';
import { insertWaiting } from './waiting-analyses.ts';

export type NewResponse = {
  id: string;
  org_id: string;
  survey_id: string;
  contact_id: string | null;
  source: 'link' | 'share';
  type: SurveyType;
  language: string;
  properties: Readonly<Record<string, unknown>> | null;
  score: number;
  category: Category;
  comment: string | null;
  held_reason: string | null;
  traceparent: string | null;
  created_at: Date;
};

/** Side effects of a response: its events, and the analysis of its comment. */
export type ResponseEffects = {
  added: NewEvents;
  analyze: boolean;
  /** Publishes an event that is not written yet. */
  later?: NewJob | undefined;
};

export type NewAnswer = { response: NewResponse; effects: ResponseEffects };

export type RecordedAnswer = { id: string; skipped: number; emitted: EmittedDelivery[] | null };

/**
 * Records up to 50 responses of any organizations, with their events and analyses, in one call, and returns the
 * recorded ones. `record_responses` describes which responses it skips. Fails when a lock takes longer than `lockMs`.
 * If `lockMs` is 0, there is no limit.
 */
export async function recordAnswers(sql: Sql, group: readonly NewAnswer[], lockMs: number) {
  const rows = group.map(({ response }) => ({
    ...response,
    comment: response.comment?.toWellFormed() ?? null,
  }));
  const added = group.map(({ response, effects }) => ({ ...effects.added, cause: response.id }));
  const analyzed = group.filter(({ effects }) => effects.analyze).map(({ response }) => response);
  return await sql<RecordedAnswer[]>`
    with patience as (${lockTimeout(sql, lockMs)}), recorded as materialized (
      select record_responses(array(
               select g from json_populate_recordset(null::given_response, ${JSON.stringify(rows)}::text::json) g
             )) as id
      from patience
    ), analyzed as (
      ${insertWaiting(
        sql,
        sql`
        select a.org_id, a.id, a.traceparent
        from unnest(${analyzed.map(({ org_id }) => org_id)}::uuid[], ${analyzed.map(({ id }) => id)}::uuid[],
                    ${analyzed.map(({ traceparent }) => traceparent)}::text[]) as a (org_id, id, traceparent)
        where a.id in (select id from recorded)`,
      )}
    ), ${emission(sql, added, sql`e.cause in (select id from recorded)`)}
    select r.id, coalesce(d.skipped, 0) as skipped, d.emitted
    from recorded r
    left join deliveries_of d on d.cause = r.id`;
}

/**
 * Records a response that replaces one on hold or may complete the survey, which the transaction has locked. Returns
 * undefined and changes nothing when the contact has already answered or the survey is closed.
 */
export async function recordUnderLock(sql: Sql, { response, effects: { added } }: NewAnswer) {
  const { org_id: orgId, traceparent } = response;
  const counted = response.held_reason === null;
  const [row] = await sql<Omit<RecordedAnswer, 'id'>[]>`
    -- organization: caller
    with answered as (
      insert into responses as r (org_id, survey_id, contact_id, id, source, score, category, comment,
                                  held_reason, traceparent, created_at, language, properties)
      select s.org_id, s.id, ${response.contact_id}::uuid, ${response.id}::uuid, ${response.source},
             ${response.score}::smallint, ${response.category}, ${response.comment}, ${response.held_reason},
             ${traceparent}, ${response.created_at}::timestamptz, ${response.language},
             ${response.properties && json(sql, response.properties)}::jsonb
      from surveys s
      where s.org_id = ${orgId} and s.id = ${response.survey_id} and s.type = ${response.type}
        and (s.status = 'active' or s.completed_by = 'answers')
      on conflict (contact_id) where source = 'link' do update
        set id = excluded.id, score = excluded.score, category = excluded.category,
            comment = excluded.comment, held_reason = excluded.held_reason,
            traceparent = excluded.traceparent, created_at = excluded.created_at,
            language = excluded.language, properties = excluded.properties
        where r.held_reason is not null
      returning r.id
    ), marked as (
      ${markAnswered(sql, response, sql`${counted} and exists (select from answered)`)}
    ), analyzed as (
      ${insertWaiting(
        sql,
        sql`
        select ${orgId}::uuid, id, ${traceparent}::text
        from answered
        where ${counted} and ${response.comment}::text is not null`,
      )}
    ), ${emission(sql, [added], sql`exists (select from answered)`)}
    select coalesce(d.skipped, 0) as skipped, d.emitted
    from answered
    left join deliveries_of d on true`;
  return row;
}

export type SurveyLink = PeopleToRedact & {
  survey_id: string;
  org_id: string;
  type: SurveyType;
  question_text: string;
  follow_up: SurveyTexts['follow_up'];
  thanks: SurveyTexts['thanks'];
  texts: TextsByLanguage;
  questions: Question[];
  embed: Partial<Embedding>;
  language: string;
  status: 'draft' | 'active' | 'completed';
  completed_by: 'answers' | 'hand' | null;
  organization: string;
  color: string;
  logo: string | null;
  subscribed_events: string[];
  analyzes_comments: boolean;
  contact_id: string | null;
  /** Null when the survey's texts have no placeholders. */
  person: AddressedPerson | null;
  answered: AnsweredResponse | null;
  /** The visits of the last minute, before this one; none for the shareable link. */
  visits: LinkVisit[];
  mail_traceparent: string | null;
  now: Date;
};

export type AnsweredResponse = {
  id: string;
  score: number;
  comment: string | null;
  at: string;
  answers: StoredAnswers;
};

type NewVisit = { kind: LinkVisit['kind']; method: string; score: number | null };

/**
 * Finds the survey behind a contact's link and records the visit (at most 60 a minute). Call it outside of a
 * transaction: it commits asynchronously, because visits only help to recognize machines.
 * The subquery for the answer has no condition on `held_reason`. With that condition, a plan from a time with few
 * responses would scan a whole index.
 */
export async function visitPersonalLink(sql: Sql, token: string, visit: NewVisit) {
  const [link] = await sql<SurveyLink[]>`
    -- all organizations
    with contact as materialized (
      select id, org_id, survey_id, name, email, properties
      from contacts
      where token = ${token} and ${asyncCommit(sql)}
    ), recent as materialized (
      select kind, score, extract(epoch from now() - visited_at) * 1000 as ago
      from (
        select kind, score, visited_at
        from link_visits
        where contact_id = (select id from contact)
          and visited_at > now() - interval '1 minute' and visited_at < now() + interval '1 minute'
        order by visited_at desc
        limit 60
      ) as newest
    ), recorded as (
      insert into link_visits (org_id, survey_id, contact_id, kind, method, score)
      select org_id, survey_id, id, ${visit.kind}, ${visit.method}, ${visit.score}::smallint
      from contact
      where (select count(*) from recent) < 60
    )
    select ${surveyColumns(sql, 'contact')},
           c.id as contact_id,
           case when s.texts <> '{}' or concat(s.question_text, s.follow_up, s.thanks, s.questions) like '%{{%'
             then json_build_object('name', c.name, 'properties', c.properties) end as person,
           (select case when r.held_reason is null then ${answeredJson(sql)} end
            from responses r
            where contact_id = c.id and source = 'link') as answered,
           coalesce((select json_agg(json_build_object('kind', kind, 'score', score, 'agoMs', ago))
                     from recent), '[]') as visits,
           (select traceparent from mails
            where contact_id = c.id and org_id = c.org_id
            order by claimed_at desc limit 1) as mail_traceparent
    from contact c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    join organizations o on o.id = c.org_id`;
  return link;
}

/** `responseId` comes from the browser's cookie. */
export async function findSharedLink(sql: Sql, shareId: string, responseId: string | null) {
  const [link] = await sql<SurveyLink[]>`
    -- all organizations
    select ${surveyColumns(sql, 'anonymous')},
           null as contact_id, null as person, '[]'::json as visits, null as mail_traceparent,
           (select ${answeredJson(sql)}
            from responses r
            where r.org_id = s.org_id and r.survey_id = s.id and r.id = ${responseId}::uuid
              and r.source = 'share') as answered
    from surveys s
    join organizations o on o.id = s.org_id
    where s.share_id = ${shareId}`;
  return link;
}

/** A personal link whose score was submitted. Records no visit. Includes a response on hold: its answers are on hold too. */
export async function findPersonalLink(sql: Sql, token: string) {
  const [link] = await sql<SurveyLink[]>`
    -- all organizations
    select ${surveyColumns(sql, 'contact')}, c.id as contact_id,
           json_build_object('name', c.name, 'properties', c.properties) as person,
           '[]'::json as visits, null as mail_traceparent,
           (select ${answeredJson(sql)}
            from responses r
            where r.contact_id = c.id and r.source = 'link') as answered
    from contacts c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    join organizations o on o.id = c.org_id
    where c.token = ${token}`;
  return link;
}

/** JSON of response `r` as an `AnsweredResponse`. */
const answeredJson = (sql: Sql): Part => sql`
  json_build_object(
    'id', r.id, 'score', r.score, 'comment', r.comment, 'at', r.created_at,
    'answers', coalesce((select a.answers from response_answers a
                         where a.org_id = r.org_id and a.response_id = r.id), '{}'))`;

const surveyColumns = (sql: Sql, respondent: 'contact' | 'anonymous') => sql`
  s.id as survey_id, s.org_id, s.type, s.question_text, s.follow_up, s.thanks, s.texts, s.questions, s.embed, s.language, s.status, s.completed_by,
  o.name as organization, o.color, o.logo, now() as now,
  ${peopleToRedact(sql, respondent)},
  array(select distinct unnest(w.events) from webhooks w where w.org_id = o.id) as subscribed_events,
  o.ai_enabled as analyzes_comments`;
