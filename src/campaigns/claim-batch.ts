import { randomUUID } from 'node:crypto';
import { markClaimed, markUnclaimed } from '../contacts/claimed.queries.ts';
import { enqueue } from '../jobs.ts';
import type { Sql } from '../lib/db/db.ts';
import { addUsage, lockMonth, lockUsage } from '../organizations/usage.queries.ts';
import { saveBlocked } from '../sends/claim.ts';
import { jobsOf } from '../sends/mail-job.ts';
import { insertClaims, withdrawClaims } from '../sends/queries.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { reopenSurvey } from '../surveys/queries.ts';
import { insertBatch, listOpenBatches, takeBack } from './batch.queries.ts';
import { type CampaignState, countJudged } from './campaign.queries.ts';
import { listWaiting, saveDecided, waitAgain } from './contacts.queries.ts';
import type { AskableContact } from './judge.queries.ts';
import { type JudgedContact, judgeSome } from './judge.ts';
import type { PacedMails } from './pace.rules.ts';
import { judgeReminded } from './remind.ts';

/**
 * Claims the mails of some waiting contacts, and writes the job that sends them. Contacts are judged again: much
 * may have changed since the start. The quota of mails that are blocked now is given back.
 */
export async function claimBatch(tx: Sql, campaign: CampaignState, paced: PacedMails, now: Date) {
  const { id: campaignId, org_id: orgId, survey_id: surveyId } = campaign;
  const survey = { orgId, surveyId };
  const month = campaign.month!;
  await lockMonth(tx, orgId, month);
  const { frequency_days: frequencyDays } = await lockUsage(tx, orgId, now);
  await lockForContacts(tx, survey);
  const contacts = await listWaiting(tx, { ...survey, campaignId }, paced.mails);
  if (contacts.length === 0) return await dropDeleted(tx, campaign, month);

  const batchId = randomUUID();
  const judged = await judgeWaiting(tx, campaign, { contacts, frequencyDays });
  const { claims, blocked } = await claimMails(tx, survey, { ...judged, batchId, month });
  await insertBatch(tx, { id: batchId, orgId, campaignId, mails: claims.length });
  await saveDecided(tx, { orgId, campaignId }, [
    ...claims.map(({ contact_id }) => ({ contact_id, batch_id: batchId, ...unblocked })),
    ...blocked.map((each) => ({ ...each, batch_id: null })),
  ]);
  const { nextMailAt } = paced;
  await countJudged(tx, campaign, { claimed: claims.length, blocked: blocked.length, nextMailAt });
  await addUsage(tx, orgId, month, -blocked.length);
  return contacts.length;
}

type Waiting = { contacts: readonly AskableContact[]; frequencyDays: number | null };
type JudgedMails = Pick<ToClaim, 'judged' | 'reminder'>;

/** Contacts that are asked by the rules of a send; those that are reminded by whether they still may be. */
async function judgeWaiting(
  tx: Sql,
  { org_id: orgId, survey_id: surveyId, kind, reminder: number }: CampaignState,
  { contacts, frequencyDays }: Waiting,
): Promise<JudgedMails> {
  const survey = { orgId, surveyId };
  if (kind !== 'reminder')
    return { judged: await judgeSome(tx, survey, { contacts, frequencyDays }) };
  const { judged, mailOf } = await judgeReminded(tx, survey, contacts);
  return { judged, reminder: { number, mailOf } };
}

const unblocked = { reason_code: null, reason: null };
const inFlight = {
  reason_code: 'in_flight',
  reason: 'another request is sending this survey to this address',
};

type ToClaim = {
  judged: readonly JudgedContact[];
  batchId: string;
  month: string;
  /** Which reminder it is, and of which mail for each contact. */
  reminder?: { number: number; mailOf: ReadonlyMap<string, string> };
};

/** Claims the mails of judged contacts under the lock of their survey, and says which were blocked. */
export async function claimMails(
  tx: Sql,
  survey: { orgId: string; surveyId: string },
  { judged, batchId, month, reminder }: ToClaim,
) {
  const sendable = judged.filter(({ judgement }) => 'send' in judgement);
  const claims = await insertClaims(tx, survey, {
    requestId: batchId,
    month,
    traceparent: null,
    awaited: false,
    reminder: reminder?.number ?? 0,
    claims: sendable.map(({ id, email }) => {
      const remindsOf = reminder?.mailOf.get(id);
      return { contact_id: id, email, ...(remindsOf && { reminds_of: remindsOf }) };
    }),
  });
  const contactIds = claims.map(({ contact_id }) => contact_id);
  if (!reminder) {
    await markClaimed(tx, survey, contactIds);
    if (claims.length > 0) await reopenSurvey(tx, survey.orgId, survey.surveyId);
    await saveBlocked(
      tx,
      survey,
      judged.map(({ judgement }) => judgement),
    );
  }
  const mailIds = claims.map(({ id }) => id);
  await enqueue(tx, jobsOf({ orgId: survey.orgId, traceparent: null }, mailIds));
  const claimed = new Set(contactIds);
  const blocked = judged.flatMap(({ id, judgement }) => {
    if (claimed.has(id)) return [];
    if ('send' in judgement) return [{ contact_id: id, ...inFlight }];
    const { reason_code, reason } = judgement;
    return [{ contact_id: id, reason_code, reason }];
  });
  return { claims, blocked };
}

/** Contacts that were deleted while they waited count as blocked, and their quota is given back. */
async function dropDeleted(tx: Sql, campaign: CampaignState, month: string) {
  const { waiting: blocked } = campaign;
  await countJudged(tx, campaign, { claimed: 0, blocked, nextMailAt: campaign.next_mail_at });
  await addUsage(tx, campaign.org_id, month, -blocked);
  return blocked;
}

/** Withdraws the mails of a campaign that have not begun: their contacts wait again, their quota stays reserved. */
export async function withdrawBatches(tx: Sql, campaign: CampaignState) {
  const { id: campaignId, org_id: orgId, survey_id: surveyId } = campaign;
  const batches = await listOpenBatches(tx, { orgId, campaignId });
  const withdrawn = batches.length > 0 ? await withdrawClaims(tx, orgId, batches) : [];
  if (withdrawn.length === 0) return 0;
  const contactIds = withdrawn.map(({ contact_id }) => contact_id);
  await markUnclaimed(tx, { orgId, surveyId }, contactIds);
  await waitAgain(tx, { orgId, campaignId }, contactIds);
  const byBatch = Map.groupBy(withdrawn, ({ request_id }) => request_id);
  const taken = [...byBatch].map(([batch_id, { length: mails }]) => ({ batch_id, mails }));
  await takeBack(tx, { orgId, campaignId }, taken);
  return withdrawn.length;
}
