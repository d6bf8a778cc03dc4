import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { type AdvanceTools, enqueueTurn } from './advance.ts';
import { type CampaignState, changeCampaign, lockCampaign } from './campaign.queries.ts';
import { withdrawBatches } from './claim-batch.ts';
import { stopIn } from './stop.ts';

/** Keeps a campaign from mailing on: what was claimed and has not begun waits again. A paused one stays so. */
export const pauseCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, async (tx, campaign) => {
    if (campaign.status === 'paused') return;
    await withdrawBatches(tx, campaign);
    await changeCampaign(tx, campaign, { status: 'paused', next_at: null });
    await record(tx, by, { act: 'campaign.paused', id });
  });

/** Lets a paused campaign go on, at its pace from now on. Another stays as it is. */
export const resumeCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, async (tx, campaign, now) => {
    if (campaign.status !== 'paused') return;
    const turn = campaign.turn + 1;
    const status = campaign.started_at ? 'running' : 'scheduled';
    await changeCampaign(tx, campaign, { status, turn, next_at: now, next_mail_at: now });
    await enqueueTurn(tx, { ...campaign, turn }, now);
    await record(tx, by, { act: 'campaign.resumed', id });
  });

/** Ends a campaign for good. One that was stopped stays so. */
export const stopCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, (tx, campaign, now) => stopIn(tx, campaign, { now, actor: by.actor }));

type Controlled = { by: Writer; id: string };

async function control(
  tools: AdvanceTools,
  { by, id }: Controlled,
  act: (tx: Sql, campaign: CampaignState, now: Date) => Promise<void>,
) {
  await inTransaction(tools.db, async (tx) => {
    const campaign = await lockCampaign(tx, { orgId: by.orgId, campaignId: id });
    if (campaign?.kind !== 'campaign') throw notFound('campaign');
    if (!['scheduled', 'running', 'paused'].includes(campaign.status)) throw over(campaign);
    await act(tx, campaign, tools.now?.() ?? new Date());
  });
}

const over = ({ status }: CampaignState) =>
  new Refusal('conflict', `the campaign is over: it is ${status}`, { code: 'campaign_over' });

type ControlAct = { act: 'campaign.paused' | 'campaign.resumed'; id: string };

const record = (tx: Sql, { orgId, actor }: Writer, { act, id }: ControlAct) =>
  recordAct(tx, { orgId, actor, act, target: { kind: 'campaign', id } });
