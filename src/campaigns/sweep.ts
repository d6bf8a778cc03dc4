import type { Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { type AdvanceTools, enqueueTurn } from './advance.ts';
import { recountBatches } from './batch.queries.ts';
import { askByItself } from './by-itself.ts';
import { renewOverdue } from './campaign.queries.ts';

/** Longer than a step of a campaign takes. */
const overdueMs = 60_000;

/** Goes on with campaigns whose job was lost, counts outcomes that came late, and asks and reminds what is due. */
export async function sweepCampaigns(tools: AdvanceTools) {
  const { db, now = () => new Date() } = tools;
  await inTransaction(db, (tx) => renewTurns(tx, now()));
  await recountBatches(db);
  await askByItself(tools);
}

async function renewTurns(tx: Sql, now: Date) {
  const overdue = await renewOverdue(tx, new Date(now.getTime() - overdueMs));
  for (const { campaign_id: id, org_id, turn } of overdue) {
    await enqueueTurn(tx, { id, org_id, turn }, now);
  }
}
