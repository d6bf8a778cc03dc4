import { jobActor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { countOpenMails, endBatches } from './batch.queries.ts';
import { type CampaignState, changeCampaign, lockCampaign } from './campaign.queries.ts';
import { claimBatch, withdrawBatches } from './claim-batch.ts';
import { pacedMails } from './pace.rules.ts';
import { startCampaign } from './start.ts';
import { dropWaiting, stopIn } from './stop.ts';
import { nextOpening } from './window.rules.ts';

const mailsPerBatch = 1000;
/** More claimed mails than this never wait for the mail server: pausing withdraws them, and a look back is cheap. */
const mostOpenMails = 4000;
const lookEveryMs = 1000;
/** While there is more to claim: the mail server is not kept waiting. */
const refillEveryMs = 200;
const lookWhenClosedEveryMs = 60_000;

export type AdvanceTools = {
  db: Db;
  /** The clock that decides what is due, and which month pays. */
  now?: () => Date;
};

export type CampaignTurn = { org_id: string; campaign_id: string; turn: number };
type Closed = { opensAt: Date; now: Date };
type Step = 'again' | 'over' | 'later';

/**
 * Goes on with a campaign as far as its window, its pace and the mail server allow, in short transactions, and leaves
 * a job for the next look. A job whose turn is over does nothing: so there is one for each campaign, whatever crashes.
 */
export async function advanceCampaign(tools: AdvanceTools, job: CampaignTurn) {
  for (let step: Step = 'again'; step === 'again'; ) {
    step = await inTransaction(tools.db, (tx) => takeStep(tx, tools, job)).catch((error) =>
      refuseOrThrow(tools, job, error),
    );
  }
}

async function takeStep(tx: Sql, tools: AdvanceTools, job: CampaignTurn): Promise<Step> {
  const campaign = await lockOwnTurn(tx, job);
  if (!campaign) return 'over';
  const now = tools.now?.() ?? new Date();
  if (campaign.status === 'scheduled') return await startScheduled(tx, campaign, now);

  const ids = { orgId: job.org_id, campaignId: job.campaign_id };
  await endBatches(tx, ids);
  const opensAt = nextOpening(campaign.send_window, now);
  const isClosed = opensAt > now;
  const withdrawn = isClosed ? await withdrawBatches(tx, campaign) : 0;
  const open = await countOpenMails(tx, ids);
  if (isClosed && campaign.waiting + withdrawn > 0) {
    return await waitUntil(tx, campaign, { opensAt, now });
  }
  if (campaign.waiting === 0 && open === 0) return await finish(tx, campaign, now);
  return await mail(tx, campaign, { open, now });
}

async function mail(tx: Sql, campaign: CampaignState, { open, now }: { open: number; now: Date }) {
  const { per_hour: perHour, next_mail_at: nextMailAt, waiting } = campaign;
  const room = Math.min(mailsPerBatch, mostOpenMails - open, waiting);
  const paced = pacedMails({ perHour, nextMailAt, now }, Math.max(room, 0));
  if (paced.mails > 0) await claimBatch(tx, campaign, paced, now);
  const isFull = paced.mails === mailsPerBatch && waiting > mailsPerBatch;
  if (isFull && open + mailsPerBatch < mostOpenMails) return 'again';
  const hasMore = waiting > paced.mails;
  const paceMs = hasMore ? (paced.nextMailAt?.getTime() ?? 0) : 0;
  const lookMs = hasMore && perHour === null && open < mostOpenMails ? refillEveryMs : lookEveryMs;
  return await lookAt(tx, campaign, new Date(Math.max(now.getTime() + lookMs, paceMs)));
}

/** The campaign, if it is this job's turn. */
async function lockOwnTurn(tx: Sql, { org_id, campaign_id, turn }: CampaignTurn) {
  const campaign = await lockCampaign(tx, { orgId: org_id, campaignId: campaign_id });
  const isOn = campaign?.status === 'scheduled' || campaign?.status === 'running';
  return isOn && campaign.turn === turn ? campaign : undefined;
}

async function startScheduled(tx: Sql, campaign: CampaignState, now: Date): Promise<Step> {
  const opensAt = campaign.send_at && campaign.send_at > now ? campaign.send_at : now;
  if (opensAt > now) return await lookAt(tx, campaign, opensAt);
  const started = await startCampaign(tx, campaign, now);
  await recordOwn(tx, campaign, started ? 'campaign.started' : 'campaign.finished');
  return started ? 'again' : 'over';
}

/** Outside of its window nothing begins: what was claimed waits again. The window may be changed meanwhile. */
async function waitUntil(tx: Sql, campaign: CampaignState, { opensAt, now }: Closed) {
  await changeCampaign(tx, campaign, { next_mail_at: null });
  const atLatest = new Date(now.getTime() + lookWhenClosedEveryMs);
  return await lookAt(tx, campaign, opensAt < atLatest ? opensAt : atLatest);
}

async function finish(tx: Sql, campaign: CampaignState, now: Date): Promise<Step> {
  // What a survey does by itself goes on when more contacts fall due.
  if (campaign.kind !== 'campaign') {
    await changeCampaign(tx, campaign, { next_at: null });
    return 'over';
  }
  await changeCampaign(tx, campaign, { status: 'finished', finished_at: now, next_at: null });
  await recordOwn(tx, campaign, 'campaign.finished');
  return 'over';
}

async function lookAt(tx: Sql, campaign: CampaignState, at: Date): Promise<Step> {
  await changeCampaign(tx, campaign, { next_at: at });
  await enqueueTurn(tx, campaign, at);
  return 'later';
}

/** Writes the job that goes on with a campaign. */
export async function enqueueTurn(
  tx: Sql,
  { org_id, id, turn }: Pick<CampaignState, 'org_id' | 'id' | 'turn'>,
  runAt: Date,
) {
  const payload = { org_id, campaign_id: id, turn };
  await enqueue(tx, [{ task: 'campaigns.advance', payload, runAt }]);
}

/** A campaign that cannot start is refused whole; one whose survey was closed stops. */
async function refuseOrThrow({ db, now }: AdvanceTools, job: CampaignTurn, error: unknown) {
  if (!(error instanceof Refusal)) throw error;
  const { message: reason } = error;
  await inTransaction(db, async (tx) => {
    const campaign = await lockOwnTurn(tx, job);
    if (!campaign) return;
    const at = now?.() ?? new Date();
    if (campaign.kind !== 'campaign') return await dropWaiting(tx, campaign, reason);
    if (campaign.status === 'running') return await stopIn(tx, campaign, { now: at, reason });
    await changeCampaign(tx, campaign, {
      status: 'refused',
      reason,
      finished_at: at,
      next_at: null,
    });
    await recordOwn(tx, campaign, 'campaign.refused');
  });
  return 'over' as const;
}

type OwnAct = 'campaign.started' | 'campaign.finished' | 'campaign.refused';

const recordOwn = (tx: Sql, { org_id: orgId, id }: CampaignState, act: OwnAct) =>
  recordAct(tx, { orgId, actor: jobActor('campaigns'), act, target: { kind: 'campaign', id } });
