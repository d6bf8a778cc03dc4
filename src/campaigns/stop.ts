import { type Actor, jobActor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Sql } from '../lib/db/db.ts';
import { addUsage, lockMonth } from '../organizations/usage.queries.ts';
import {
  type CampaignState,
  changeCampaign,
  countJudged,
  lockCampaign,
} from './campaign.queries.ts';
import { withdrawBatches } from './claim-batch.ts';
import { blockWaiting } from './contacts.queries.ts';

type StopOptions = { now: Date; actor?: Actor; reason?: string };

/**
 * Ends a campaign: what has not begun is not mailed, and its quota is given back. A mail in flight still gets its
 * outcome.
 */
export async function stopIn(
  tx: Sql,
  campaign: CampaignState,
  { now, actor = jobActor('campaigns'), reason }: StopOptions,
) {
  const { org_id: orgId, id: campaignId, month } = campaign;
  if (month) await lockMonth(tx, orgId, month);
  await withdrawBatches(tx, campaign);
  const { waiting } = (await lockCampaign(tx, { orgId, campaignId }))!;
  if (month) await addUsage(tx, orgId, month, -waiting);
  await changeCampaign(tx, campaign, {
    status: 'stopped',
    finished_at: now,
    next_at: null,
    ...(reason === undefined ? {} : { reason }),
  });
  const target = { kind: 'campaign', id: campaignId } as const;
  await recordAct(tx, { orgId, actor, act: 'campaign.stopped', target });
}

/** What a survey does by itself ends with the survey: contacts that wait are not mailed, and their quota is given back. */
export async function dropWaiting(tx: Sql, campaign: CampaignState, reason: string) {
  const { org_id: orgId, id: campaignId, month, waiting, turn } = campaign;
  if (month) await lockMonth(tx, orgId, month);
  await blockWaiting(tx, { orgId, campaignId }, { reason_code: 'survey_closed', reason });
  if (month) await addUsage(tx, orgId, month, -waiting);
  await countJudged(tx, campaign, { claimed: 0, blocked: waiting, nextMailAt: null });
  await changeCampaign(tx, campaign, { next_at: null, turn: turn + 1 });
}
