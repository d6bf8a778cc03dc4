import { randomUUID } from 'node:crypto';
import { type Actor, jobActor, recordAct } from '../audit/acts.ts';
import { markClaimed, markUnclaimed } from '../contacts/queries.ts';
import { Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import {
  addUsage,
  lockMonth,
  lockUsage,
  readUsage,
  refuseOverLimit,
} from '../organizations/queries.ts';
import { addAudience, filterOfAudience } from '../people/audience.ts';
import type { PeopleFilter } from '../people/filter.ts';
import { lockOpenSurvey, saveBlocked } from '../sends/claim.ts';
import { mailJobs } from '../sends/mail-job.ts';
import { insertClaims, withdrawClaims } from '../sends/queries.ts';
import { inFlight } from '../sends/rules.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import {
  contactRow,
  countEnrolled,
  type Due,
  type JudgedContact,
  judgeAskable,
  judgementsOf,
  judgeReminded,
  judgeSome,
} from './judge.ts';
import {
  blockWaiting,
  type CampaignState,
  changeCampaign,
  countJudged,
  countOpenMails,
  endBatches,
  insertBatch,
  insertCampaignContacts,
  listOpenBatches,
  listWaiting,
  lockCampaign,
  type NewCampaignContact,
  requeue,
  saveDecided,
} from './queries.ts';
import { nextOpening, type Pacing, pacedMails } from './rules.ts';

const mailsPerBatch = 1000;
/** Limit of claimed mails per campaign, so that pausing can withdraw them quickly. */
const maxOpenMails = 4000;
const lookEveryMs = 500;
const lookWhenClosedEveryMs = 60_000;

export type AdvanceTools = {
  db: Db;
  now?: () => Date;
};

export type CampaignTurn = { org_id: string; campaign_id: string; turn: number };
type Step = 'again' | 'over' | 'later';

/**
 * Advances a campaign as far as its window, pace and the mail server allow, in short transactions, and enqueues the next
 * turn. Jobs of an older turn do nothing, so that each campaign has exactly one live job.
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
  if (campaign.status === 'scheduled') {
    if (campaign.send_at && campaign.send_at > now) {
      return await lookAt(tx, campaign, campaign.send_at);
    }
    const started = await startCampaign(tx, campaign, now);
    await recordOwn(tx, campaign, started ? 'campaign.started' : 'campaign.finished');
    return started ? 'again' : 'over';
  }

  const ids = { orgId: job.org_id, campaignId: job.campaign_id };
  await endBatches(tx, ids);
  const opensAt = nextOpening(campaign.send_window, now);
  const isClosed = opensAt > now;
  const withdrawn = isClosed ? await withdrawBatches(tx, campaign) : 0;
  const open = await countOpenMails(tx, ids);
  // Outside the send window, claimed mails are withdrawn. The window may change before it opens.
  if (isClosed && campaign.waiting + withdrawn > 0) {
    await changeCampaign(tx, campaign, { next_mail_at: null });
    const atLatest = now.getTime() + lookWhenClosedEveryMs;
    return await lookAt(tx, campaign, new Date(Math.min(opensAt.getTime(), atLatest)));
  }
  if (campaign.waiting > 0 || open > 0) return await mail(tx, campaign, { open, now });
  // Automatic sends continue when more contacts are due.
  if (campaign.kind !== 'campaign') {
    await changeCampaign(tx, campaign, { next_at: null });
    return 'over';
  }
  await changeCampaign(tx, campaign, { status: 'finished', finished_at: now, next_at: null });
  await recordOwn(tx, campaign, 'campaign.finished');
  return 'over';
}

async function mail(tx: Sql, campaign: CampaignState, { open, now }: { open: number; now: Date }) {
  const { per_hour: perHour, next_mail_at: nextMailAt, waiting } = campaign;
  const room = Math.min(mailsPerBatch, maxOpenMails - open, waiting);
  const paced = pacedMails({ perHour, nextMailAt, now }, Math.max(room, 0));
  if (paced.mails > 0) await claimBatch(tx, campaign, paced, now);
  const isFull = paced.mails === mailsPerBatch && waiting > mailsPerBatch;
  if (isFull && open + mailsPerBatch < maxOpenMails) return 'again';
  const hasMore = waiting > paced.mails;
  const paceMs = hasMore ? (paced.nextMailAt?.getTime() ?? 0) : 0;
  return await lookAt(tx, campaign, new Date(Math.max(now.getTime() + lookEveryMs, paceMs)));
}

async function lockOwnTurn(tx: Sql, { org_id, campaign_id, turn }: CampaignTurn) {
  const campaign = await lockCampaign(tx, { orgId: org_id, campaignId: campaign_id });
  const isOn = campaign?.status === 'scheduled' || campaign?.status === 'running';
  return isOn && campaign.turn === turn ? campaign : undefined;
}

async function lookAt(tx: Sql, campaign: CampaignState, at: Date): Promise<Step> {
  await changeCampaign(tx, campaign, { next_at: at });
  await enqueueTurn(tx, campaign, at);
  return 'later';
}

export async function enqueueTurn(
  tx: Sql,
  { org_id, id, turn }: Pick<CampaignState, 'org_id' | 'id' | 'turn'>,
  runAt: Date,
) {
  const payload = { org_id, campaign_id: id, turn };
  await enqueue(tx, [{ task: 'campaigns.advance', payload, runAt }]);
}

export async function enrollContacts(
  tx: Sql,
  { survey: { org_id, survey_id: surveyId }, campaign, now }: Due,
  { rows, month }: { rows: readonly NewCampaignContact[]; month: string },
) {
  const { id, turn: lastTurn } = campaign;
  const turn = lastTurn + 1;
  const waiting = rows.filter(({ reason_code }) => reason_code === null).length;
  await insertCampaignContacts(tx, { orgId: org_id, surveyId, campaignId: id }, rows, now);
  await addUsage(tx, org_id, month, waiting);
  await countEnrolled(tx, { org_id, id }, { total: rows.length, waiting, month, turn, now });
  await enqueueTurn(tx, { org_id, id, turn }, now);
}

/** Refuses a campaign that cannot start, and stops one whose survey was closed. */
async function refuseOrThrow({ db, now }: AdvanceTools, job: CampaignTurn, error: unknown) {
  if (!(error instanceof Refusal)) throw error;
  const { message: reason } = error;
  await inTransaction(db, async (tx) => {
    const campaign = await lockOwnTurn(tx, job);
    if (!campaign) return;
    const at = now?.() ?? new Date();
    if (campaign.kind !== 'campaign') return await dropWaiting(tx, campaign, reason);
    if (campaign.status === 'running') return await endCampaign(tx, campaign, { now: at, reason });
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

const recordOwn = (
  tx: Sql,
  { org_id: orgId, id }: CampaignState,
  act: 'campaign.started' | 'campaign.finished' | 'campaign.refused',
) => recordAct(tx, { orgId, actor: jobActor('campaigns'), act, target: { kind: 'campaign', id } });

/**
 * Adds the audience and reserves quota for all mails, or refuses the campaign. Returns false if there is nothing to
 * mail.
 */
export async function startCampaign(
  tx: Sql,
  campaign: Pick<CampaignState, 'id' | 'org_id' | 'survey_id' | 'audience'>,
  now: Date,
) {
  const { id: campaignId, org_id: orgId, survey_id: surveyId, audience } = campaign;
  const survey = { orgId, surveyId };
  const settings = await lockUsage(tx, orgId, now);
  await lockOpenSurvey(tx, survey);
  const filter = audience && (await filterOfAudience(tx, orgId, audience));
  if (filter && (await addAudience(tx, survey, filter)) > 0) {
    await reopenSurvey(tx, orgId, surveyId);
  }
  const { total, mailed } = await judgeCampaign(tx, survey, {
    filter,
    async onJudged(judged) {
      await insertCampaignContacts(tx, { ...survey, campaignId }, judged.map(contactRow), now);
      await saveBlocked(tx, survey, judgementsOf(judged));
    },
  });
  refuseOverLimit(settings, mailed);
  await addUsage(tx, orgId, settings.month, mailed);
  await changeCampaign(tx, campaign, {
    total,
    waiting: mailed,
    month: settings.month,
    started_at: now,
    duplicates: total - mailed,
    ...(mailed === 0
      ? { status: 'finished', finished_at: now, next_at: null }
      : { status: 'running', next_at: now, next_mail_at: now }),
  });
  return mailed > 0;
}

export const isMailed = ({ judgement }: JudgedContact) => 'send' in judgement;

export const maxSkippedShown = 1000;

/** Contacts that a rule skips, with the first of them. */
type SkipReason = { count: number; first: Skipped[] };
type Skipped = { email: string; name: string | null; reason_code: string; reason: string };

/** Judges contacts without locks or writes. */
export async function judgeCampaign(
  sql: Sql,
  survey: OrgSurvey,
  {
    filter = null,
    onJudged = () => {},
  }: {
    filter?: PeopleFilter | null;
    onJudged?: (judged: readonly JudgedContact[]) => void | Promise<void>;
  } = {},
) {
  const usage = await readUsage(sql, survey.orgId);
  const { used, monthly_send_limit, frequency_days: frequencyDays } = usage;
  const reasons = new Map<string, SkipReason>();
  let [total, mailed] = [0, 0];
  for await (const judged of judgeAskable(sql, survey, { frequencyDays, filter })) {
    total += judged.length;
    mailed += judged.filter(isMailed).length;
    for (const { email, name = null, judgement } of judged) {
      if ('send' in judgement) continue;
      const { reason_code, reason } = judgement;
      const skipped = reasons.get(reason_code) ?? { count: 0, first: [] };
      reasons.set(reason_code, skipped);
      skipped.count += 1;
      if (skipped.count <= maxSkippedShown)
        skipped.first.push({ email, name, reason_code, reason });
    }
    await onJudged(judged);
  }
  return { total, mailed, reasons, used, monthly_send_limit };
}

/** Withdraws mails that have not started and returns their quota. Mails in flight still get an outcome. */
export async function endCampaign(
  tx: Sql,
  campaign: CampaignState,
  { now, actor = jobActor('campaigns'), reason }: { now: Date; actor?: Actor; reason?: string },
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
    ...(reason !== undefined && { reason }),
  });
  const target = { kind: 'campaign', id: campaignId } as const;
  await recordAct(tx, { orgId, actor, act: 'campaign.stopped', target });
}

/** Ends automatic sends of a closed survey and returns the quota of waiting contacts. */
async function dropWaiting(tx: Sql, campaign: CampaignState, reason: string) {
  const { org_id: orgId, id: campaignId, month, waiting, turn } = campaign;
  if (month) await lockMonth(tx, orgId, month);
  await blockWaiting(tx, { orgId, campaignId }, { reason_code: 'survey_closed', reason });
  if (month) await addUsage(tx, orgId, month, -waiting);
  await countJudged(tx, campaign, { claimed: 0, blocked: waiting, nextMailAt: null });
  await changeCampaign(tx, campaign, { next_at: null, turn: turn + 1 });
}

/** Claims mails and enqueues their jobs. Judges contacts again, because much may have changed since the start. */
async function claimBatch(tx: Sql, campaign: CampaignState, paced: Pacing, now: Date) {
  const { id: campaignId, org_id: orgId, survey_id: surveyId } = campaign;
  const survey = { orgId, surveyId };
  const month = campaign.month!;
  await lockMonth(tx, orgId, month);
  const { frequency_days: frequencyDays } = await lockUsage(tx, orgId, now);
  await lockForContacts(tx, survey);
  const contacts = await listWaiting(tx, { ...survey, campaignId }, paced.mails);
  if (contacts.length === 0) {
    // Deleted contacts count as blocked.
    const { waiting: blocked, next_mail_at: nextMailAt } = campaign;
    await countJudged(tx, campaign, { claimed: 0, blocked, nextMailAt });
    return await addUsage(tx, orgId, month, -blocked);
  }

  const isReminder = campaign.kind === 'reminder';
  const judged = isReminder
    ? await judgeReminded(tx, survey, contacts)
    : await judgeSome(tx, survey, contacts, { frequencyDays });
  const batchId = randomUUID();
  const claims = await insertClaims(tx, survey, {
    requestId: batchId,
    month,
    traceparent: null,
    awaited: false,
    reminder: isReminder ? campaign.reminder : 0,
    claims: judged.filter(isMailed).map(({ id, ...mail }) => ({ contact_id: id, ...mail })),
  });
  const contactIds = claims.map(({ contact_id }) => contact_id);
  if (!isReminder) {
    await markClaimed(tx, survey, contactIds);
    if (claims.length > 0) await reopenSurvey(tx, orgId, surveyId);
    await saveBlocked(tx, survey, judgementsOf(judged));
  }
  const mailIds = claims.map(({ id }) => id);
  await enqueue(tx, mailJobs({ orgId, traceparent: null }, mailIds));
  await insertBatch(tx, { id: batchId, orgId, campaignId, mails: claims.length });
  const claimed = new Set(contactIds);
  const decided = judged.map((each) => {
    if (claimed.has(each.id)) return { ...contactRow(each), batch_id: batchId };
    return isMailed(each) ? { contact_id: each.id, ...inFlight } : contactRow(each);
  });
  await saveDecided(tx, { orgId, campaignId }, decided);
  const blocked = judged.length - claims.length;
  const { nextMailAt } = paced;
  await countJudged(tx, campaign, { claimed: claims.length, blocked, nextMailAt });
  await addUsage(tx, orgId, month, -blocked);
}

/** Withdraws mails that have not started: their contacts wait again, and their quota stays reserved. */
export async function withdrawBatches(tx: Sql, campaign: CampaignState) {
  const { id: campaignId, org_id: orgId, survey_id: surveyId } = campaign;
  const batches = await listOpenBatches(tx, { orgId, campaignId });
  const withdrawn = batches.length > 0 ? await withdrawClaims(tx, orgId, batches) : [];
  if (withdrawn.length === 0) return 0;
  await markUnclaimed(
    tx,
    { orgId, surveyId },
    withdrawn.map(({ contact_id }) => contact_id),
  );
  await requeue(tx, { orgId, campaignId }, withdrawn);
  return withdrawn.length;
}
