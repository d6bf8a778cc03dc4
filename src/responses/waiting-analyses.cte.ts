import type { Sql } from '../lib/db/db.ts';

type AnalysisCause = {
  traceparent?: string | null;
  /** Of imported answers: they come after the new ones of their organization. */
  isHistory?: boolean;
};

/**
 * The insert that asks for analyses of answers, where the organization wants them, from a select of
 * their org_id and id.
 */
export const insertWaiting = (
  sql: Sql,
  { traceparent = null, isHistory = false }: AnalysisCause,
  answers: ReturnType<typeof sql>,
) => sql`
  insert into waiting_analyses (org_id, response_id, is_history, traceparent)
  select a.org_id, a.id, ${isHistory}::boolean, ${traceparent}::text
  from (${answers}) as a (org_id, id)
  join organizations o on o.id = a.org_id and o.ai_enabled
  on conflict do nothing`;

/** The same from a select of their org_id, id and the span that causes each. */
export const insertWaitingTraced = (sql: Sql, answers: ReturnType<typeof sql>) => sql`
  insert into waiting_analyses (org_id, response_id, traceparent)
  select a.org_id, a.id, a.traceparent
  from (${answers}) as a (org_id, id, traceparent)
  join organizations o on o.id = a.org_id and o.ai_enabled
  on conflict do nothing`;

/** Which analysis is meant: of an answer, as it was asked for. */
export type AnalysisTarget = {
  orgId: string;
  responseId: string;
  /** As text: as a time the client would cut it to milliseconds. */
  askedAt: string | null;
};

/** The delete of what waits no longer, unless it has been asked for again meanwhile. */
export const deleteWaiting = (sql: Sql, { orgId, responseId, askedAt }: AnalysisTarget) => sql`
  delete from waiting_analyses
  where org_id = ${orgId} and response_id = ${responseId}
    and asked_at is not distinct from ${askedAt}::text::timestamptz`;
