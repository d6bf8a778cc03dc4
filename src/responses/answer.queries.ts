import { markAnswered } from '../contacts/answered.queries.ts';
import { json, lockTimeout, type Sql } from '../lib/db/db.ts';
import type { Category, SurveyType } from '../scores.ts';
import {
  type EmittedDelivery,
  emission,
  emittedDeliveries,
  type NewEvents,
  skippedDeliveries,
} from '../webhooks/emit.cte.ts';
import { insertWaiting, insertWaitingTraced } from './waiting-analyses.cte.ts';

export type NewResponse = {
  id: string;
  org_id: string;
  survey_id: string;
  contact_id: string | null;
  source: 'link' | 'share';
  /** The survey's scale, as the link showed it. */
  type: SurveyType;
  /** Of the page that it was given on. */
  language: string;
  /** What a website handed in. */
  properties: Readonly<Record<string, unknown>> | null;
  score: number;
  category: Category;
  comment: string | null;
  held_reason: string | null;
  traceparent: string | null;
  created_at: Date;
};

/** What a response causes: its events, and the analysis of its comment. */
export type ResponseEffects = { added: NewEvents; analyze: boolean };

export type NewAnswer = { response: NewResponse; effects: ResponseEffects };

export type RecordedAnswer = { id: string; skipped: number; emitted: EmittedDelivery[] | null };

/**
 * Records at most 50 responses of any organizations, with their events and analyses, in one call. Returns those that it
 * recorded; nothing is done for the others, which the function `record_responses` explains. It fails when a lock is not
 * free within `lockMs`; 0 is no limit.
 */
export async function recordAnswers(sql: Sql, group: readonly NewAnswer[], lockMs: number) {
  const given = group.map(({ response }) => ({
    ...response,
    comment: response.comment?.toWellFormed() ?? null,
  }));
  const added = group.map(({ response, effects }) => ({ ...effects.added, cause: response.id }));
  const analyzed = group.filter(({ effects }) => effects.analyze).map(({ response }) => response);
  return await sql<RecordedAnswer[]>`
    with patience as (${lockTimeout(sql, lockMs)}), recorded as materialized (
      select record_responses(array(
               select g from json_populate_recordset(null::given_response, ${JSON.stringify(given)}::text::json) g
             )) as id
      from patience
    ), analyzed as (
      ${insertWaitingTraced(
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
 * Records a response that replaces one on hold or may be the last, in a transaction that has locked the survey.
 * Triggers count it. Returns nothing, and has done nothing, when the contact has answered already or the survey takes
 * no answers any more.
 */
export async function recordPerhapsLast(sql: Sql, { response, effects: { added } }: NewAnswer) {
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
             ${propertiesOf(sql, response)}::jsonb
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
        { traceparent },
        sql`select ${orgId}::uuid, id from answered where ${counted} and ${response.comment}::text is not null`,
      )}
    ), ${emission(sql, [added], sql`exists (select from answered)`)}
    select ${skippedDeliveries(sql)} as skipped,
           ${emittedDeliveries(sql)} as emitted
    from answered`;
  return row;
}

const propertiesOf = (sql: Sql, { properties }: NewResponse) =>
  properties === null ? null : json(sql, properties);
