import { enqueueEach } from '../jobs.ts';
import type { Sql } from '../lib/db/db.ts';

/**
 * The insert that asks for analyses of answers, where the organization wants them, from a select of
 * their org_id and id.
 */
export const enqueueAnalysis = (
  sql: Sql,
  traceparent: string | null,
  answers: ReturnType<typeof sql>,
) =>
  enqueueEach(
    sql,
    { task: 'summaries.analyze', traceparent },
    sql`
    select json_build_object('org_id', o.id, 'response_id', a.id, 'tries', 0)
    from (${answers}) as a (org_id, id)
    join organizations o on o.id = a.org_id and o.ai_enabled`,
  );
