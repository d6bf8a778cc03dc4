import { lockTimeout, type Sql } from '../lib/db/db.ts';
import type { EmittedDelivery } from '../webhooks/emit.cte.ts';
import { emissionTogether } from '../webhooks/emit-together.cte.ts';
import type { NewResponse, ResponseEffects } from './answer.queries.ts';
import { insertWaitingTraced } from './waiting-analyses.cte.ts';

export type AnswerOfGroup = { response: NewResponse; effects: ResponseEffects };

type RecordedOfGroup = { id: string; skipped: number; emitted: EmittedDelivery[] | null };

/**
 * Records the responses of a group, of any organizations, and all that follows from them, in one call. Returns those
 * that it recorded; nothing is done for the others. It fails when a lock is not free within `lockMs`.
 */
export async function recordTogether(sql: Sql, group: readonly AnswerOfGroup[], lockMs: number) {
  const given = group.map(({ response }) => ({
    ...response,
    comment: response.comment?.toWellFormed() ?? null,
  }));
  const events = group.map(({ response, effects }) => ({
    cause: response.id,
    added: effects.added,
  }));
  const analyzed = group.filter(({ effects }) => effects.analyze).map(({ response }) => response);
  return await sql<RecordedOfGroup[]>`
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
    ), ${emissionTogether(sql, events, sql`select id from recorded`)}
    select r.id, coalesce(d.skipped, 0) as skipped, d.emitted
    from recorded r
    left join deliveries_of d on d.cause = r.id`;
}
