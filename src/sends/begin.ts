import type { Db } from '../lib/db/db.ts';
import { beginMails, type ClaimedMail, listKeptBack } from './mailing.queries.ts';
import type { KeptBack } from './rules.ts';

/** Whether a mail may leave: as which attempt, or why not; it is withdrawn when its time was over. */
export type Beginning = { attempt: number } | { keptBack: KeptBack } | 'withdrawn';

/** Says of mails that they are on their way, which one of them may then be. */
export async function beginAll(db: Db, mails: readonly ClaimedMail[]): Promise<Beginning[]> {
  const begun = new Map((await beginMails(db, mails)).map(({ id, attempts }) => [id, attempts]));
  const rest = mails.filter(({ id }) => !begun.has(id));
  const found = rest.length > 0 ? await listKeptBack(db, rest) : [];
  const keptBack = new Map(found.map(({ id, why }) => [id, why]));
  return mails.map(({ id }) => {
    const [attempt, why] = [begun.get(id), keptBack.get(id)];
    if (attempt !== undefined) return { attempt };
    return why ? { keptBack: why } : 'withdrawn';
  });
}
