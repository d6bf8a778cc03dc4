import type { Actor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Sql } from '../lib/db/db.ts';

type RequestedSend = { actor?: Actor; submitted: readonly unknown[]; mails: number };

/** One event for a request, whatever becomes of its mails. */
export async function recordSend(
  tx: Sql,
  { orgId, surveyId }: { orgId: string; surveyId: string },
  { actor, submitted, mails }: RequestedSend,
) {
  if (!actor) return;
  const target = { kind: 'survey', id: surveyId };
  const details = { contacts: submitted.length, mails };
  await recordAct(tx, { orgId, actor, act: 'send.requested', target, details });
}
