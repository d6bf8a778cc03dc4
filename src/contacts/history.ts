import type { Sql } from '../lib/db/db.ts';
import { markAnsweredAt } from './history.queries.ts';

type Where = { orgId: string; surveyId: string };

/** Marks contacts whose answers came from elsewhere as having answered, at the time of their latest. */
export async function markAnsweredMany(
  sql: Sql,
  where: Where,
  answers: readonly { contact_id: string | null; created_at: Date }[],
) {
  const latest = new Map<string, Date>();
  for (const { contact_id, created_at } of answers) {
    if (!contact_id) continue;
    const known = latest.get(contact_id);
    if (!known || known < created_at) latest.set(contact_id, created_at);
  }
  if (latest.size > 0) await markAnsweredAt(sql, where, latest);
}
