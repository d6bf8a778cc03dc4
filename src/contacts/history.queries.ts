import type { Sql } from '../lib/db/db.ts';

export async function markAnsweredAt(
  sql: Sql,
  { orgId, surveyId }: { orgId: string; surveyId: string },
  times: ReadonlyMap<string, Date>,
) {
  await sql`
    update contacts c
    set status = 'responded', responded_at = greatest(c.responded_at, a.at), updated_at = now()
    from unnest(${[...times.keys()]}::uuid[], ${[...times.values()].map((at) => at.toISOString())}::timestamptz[]) as a (id, at)
    where c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.id = a.id`;
}
