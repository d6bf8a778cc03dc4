import type { Sql } from '../lib/db/db.ts';
import { lockSummariesOver, replaceText } from './erase.queries.ts';
import { withoutQuotes } from './erase.rules.ts';

/** Takes quotes of a comment out of the summaries of its time, and returns how many summaries had any. */
export async function removeQuotes(
  tx: Sql,
  orgId: string,
  { comment, created_at }: { comment: string; created_at: Date },
): Promise<number> {
  let changed = 0;
  for (const { id, text } of await lockSummariesOver(tx, orgId, created_at)) {
    const without = withoutQuotes(text, comment);
    if (without === undefined) continue;
    await replaceText(tx, orgId, { id, text: without });
    changed += 1;
  }
  return changed;
}
