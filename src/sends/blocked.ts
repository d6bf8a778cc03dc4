import type { Sql } from '../lib/db/db.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { insertBlocked } from './claim.queries.ts';
import type { Judgement } from './rules.ts';

const blockingCodes = new Set(['unsubscribed', 'bounced', 'frequency']);

/** Keeps which mails a rule blocked, for the question why an address got none. */
export async function saveBlocked(tx: Sql, survey: OrgSurvey, judgements: readonly Judgement[]) {
  const blocked = judgements.flatMap((judgement) => {
    if ('send' in judgement || judgement.key === null) return [];
    const { key, reason_code, reason } = judgement;
    return blockingCodes.has(reason_code) ? [{ email: key, reason_code, reason }] : [];
  });
  if (blocked.length > 0) await insertBlocked(tx, survey, blocked);
}
