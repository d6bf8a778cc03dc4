import { markAnswered } from '../contacts/answered.queries.ts';
import { json, type Sql } from '../lib/db/db.ts';
import type { Category, SurveyType } from '../scores.ts';
import {
  type EmittedDelivery,
  emission,
  emittedDeliveries,
  type NewEvents,
  skippedDeliveries,
} from '../webhooks/emit.cte.ts';
import { insertWaiting } from './waiting-analyses.cte.ts';

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

type RecordOutcome = {
  /** Explained at the function `record_response`. */
  outcome: 'recorded' | 'refused' | 'taken' | 'last' | 'again';
  skipped: number;
  emitted: EmittedDelivery[] | null;
};

/** Records a response and all that follows from it in one call, unless it needs `insertResponse`. */
export async function recordResponse(
  sql: Sql,
  response: NewResponse,
  { added, analyze }: ResponseEffects,
): Promise<RecordOutcome> {
  const { org_id: orgId, traceparent } = response;
  const call = sql`
    select record_response(
      ${orgId}, ${response.survey_id}, ${response.contact_id}, ${response.id}, ${response.source},
      ${response.score}, ${response.category}, ${response.comment}, ${response.held_reason},
      ${traceparent}, ${response.created_at}, ${response.type}, ${response.language},
      ${propertiesOf(sql, response)}) as outcome`;
  const isRecorded = sql`(select outcome from recorded) = 'recorded'`;
  const analysis = analyze
    ? sql`, analyzed as (
        ${insertWaiting(sql, { traceparent }, sql`select ${orgId}::uuid, ${response.id}::uuid where ${isRecorded}`)}
      )`
    : sql``;
  const [row] =
    added.events.length === 0
      ? await sql<RecordOutcome[]>`
          with recorded as materialized (${call}) ${analysis}
          select outcome, 0 as skipped, null as emitted from recorded`
      : await sql<RecordOutcome[]>`
          with recorded as materialized (${call}) ${analysis},
          ${emission(sql, added, isRecorded)}
          select outcome, ${skippedDeliveries(sql)} as skipped,
                 ${emittedDeliveries(sql)} as emitted
          from recorded`;
  return row!;
}

/**
 * The same by the statements that count in triggers, for a response that replaces one on hold or may be the
 * last. Returns nothing, and has done nothing, when the contact has answered already or the survey takes no
 * answers any more.
 */
export async function insertResponse(sql: Sql, response: NewResponse, { added }: ResponseEffects) {
  const { org_id: orgId, traceparent } = response;
  const counted = response.held_reason === null;
  const [row] = await sql<{ skipped: number; emitted: EmittedDelivery[] | null }[]>`
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
    ), ${emission(sql, added, sql`exists (select from answered)`)}
    select ${skippedDeliveries(sql)} as skipped,
           ${emittedDeliveries(sql)} as emitted
    from answered`;
  return row;
}

const propertiesOf = (sql: Sql, { properties }: NewResponse) =>
  properties === null ? null : json(sql, properties);
