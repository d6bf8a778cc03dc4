import { Refusal } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { addUsage, lockUsage, readUsage, refuseOverLimit } from '../organizations/usage.queries.ts';
import { saveBlocked } from '../sends/claim.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { type CampaignState, changeCampaign } from './campaign.queries.ts';
import { insertCampaignContacts } from './contacts.queries.ts';
import { type JudgedContact, judgeAskable } from './judge.ts';

type ToStart = Pick<CampaignState, 'id' | 'org_id' | 'survey_id'>;

/**
 * Judges all contacts that are still to be asked and reserves the quota of all mails, or refuses the whole campaign.
 * Returns whether there is anything to mail.
 */
export async function startCampaign(tx: Sql, campaign: ToStart, now: Date) {
  const { id: campaignId, org_id: orgId, survey_id: surveyId } = campaign;
  const survey = { orgId, surveyId };
  const settings = await lockUsage(tx, orgId, now);
  await lockUndrafted(tx, survey);
  const [sums, where] = [
    { total: 0, waiting: 0 },
    { ...survey, campaignId },
  ];
  for await (const judged of judgeAskable(tx, survey, settings.frequency_days)) {
    await insertCampaignContacts(tx, where, judged.map(contactRow));
    await saveBlocked(
      tx,
      survey,
      judged.map(({ judgement }) => judgement),
    );
    sums.total += judged.length;
    sums.waiting += judged.filter(isMailed).length;
  }
  refuseOverLimit(settings, sums.waiting);
  await addUsage(tx, orgId, settings.month, sums.waiting);
  const [started, isEmpty] = [{ month: settings.month, started_at: now }, sums.waiting === 0];
  await changeCampaign(tx, campaign, {
    ...sums,
    ...started,
    duplicates: sums.total - sums.waiting,
    next_at: now,
    ...(isEmpty
      ? { status: 'finished', finished_at: now, next_at: null }
      : { status: 'running', next_mail_at: now }),
  });
  return !isEmpty;
}

const isMailed = ({ judgement }: JudgedContact) => 'send' in judgement;

function contactRow({ id: contact_id, judgement }: JudgedContact) {
  if ('send' in judgement) return { contact_id, reason_code: null, reason: null };
  const { reason_code, reason } = judgement;
  return { contact_id, reason_code, reason };
}

/** The survey must be one that can be sent; it neither completes nor closes meanwhile. */
export async function lockUndrafted(tx: Sql, survey: OrgSurvey) {
  const { status } = await lockForContacts(tx, survey);
  if (status === 'draft') throw draftRefusal();
}

const draftRefusal = () =>
  new Refusal('invalid', 'the survey is a draft: open it before sending it', {
    code: 'survey_draft',
  });

export type CampaignJudgement = {
  total: number;
  mailed: number;
  reasons: Map<string, number>;
  /** Of the month, before this campaign. */
  used: number;
  monthly_send_limit: number;
};

/** The same judgement without a lock; nothing is written. Each contact passes `onJudged`. */
export async function judgeCampaign(
  sql: Sql,
  survey: OrgSurvey,
  onJudged: (judged: readonly JudgedContact[]) => void | Promise<void> = () => {},
): Promise<CampaignJudgement> {
  const settings = await readUsage(sql, survey.orgId);
  const { used, monthly_send_limit } = settings;
  const judgement: CampaignJudgement = {
    total: 0,
    mailed: 0,
    reasons: new Map(),
    used,
    monthly_send_limit,
  };
  for await (const judged of judgeAskable(sql, survey, settings.frequency_days)) {
    judgement.total += judged.length;
    for (const each of judged) count(judgement, each);
    await onJudged(judged);
  }
  return judgement;
}

function count(judgement: CampaignJudgement, { judgement: each }: JudgedContact) {
  if ('send' in each) judgement.mailed += 1;
  else {
    const before = judgement.reasons.get(each.reason_code) ?? 0;
    judgement.reasons.set(each.reason_code, before + 1);
  }
}
