import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { getOrgSurvey } from '../surveys/manage.queries.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { type AdvanceTools, enqueueTurn } from './advance.ts';
import { insertCampaign } from './campaign.queries.ts';
import { judgeCampaign, lockUndrafted, startCampaign } from './start.ts';

export type CampaignWish = {
  surveyId: string;
  name?: string | null | undefined;
  send_at?: Date | null | undefined;
  per_hour?: number | null | undefined;
};

/**
 * Mails a survey to all of its contacts that are still to be asked: now, all or none of them, or from a time on. In
 * the past is now.
 */
export async function createCampaign(tools: AdvanceTools, by: Writer, wish: CampaignWish) {
  const { orgId, actor } = by;
  const now = tools.now?.() ?? new Date();
  const sendAt = wish.send_at && wish.send_at > now ? wish.send_at : null;
  const id = await inTransaction(tools.db, async (tx) => {
    const survey = { orgId, surveyId: wish.surveyId };
    const { name } = await getOrgSurvey(tx, orgId, wish.surveyId);
    const campaignId = await insertCampaign(tx, orgId, {
      survey_id: wish.surveyId,
      name: wish.name ?? name,
      per_hour: wish.per_hour ?? null,
      status: sendAt ? 'scheduled' : 'running',
      send_at: wish.send_at ?? null,
      next_at: sendAt ?? now,
      created_at: now,
    });
    const campaign = { id: campaignId, org_id: orgId, survey_id: wish.surveyId, turn: 0 };
    if (sendAt) await lockUndrafted(tx, survey);
    const isOn = sendAt !== null || (await startCampaign(tx, campaign, now));
    if (isOn) await enqueueTurn(tx, campaign, sendAt ?? now);
    const target = { kind: 'campaign', id: campaignId } as const;
    const details = { survey_id: wish.surveyId };
    await recordAct(tx, { orgId, actor, act: 'campaign.created', target, details });
    return campaignId;
  });
  return id;
}

/** Says what a campaign would do now: the same judgement and the same refusals; nothing is written. */
export async function tryCampaign({ db }: { db: Db }, survey: OrgSurvey) {
  const { name: surveyName } = await getOrgSurvey(db, survey.orgId, survey.surveyId);
  await inTransaction(db, (tx) => lockUndrafted(tx, survey));
  return { ...(await judgeCampaign(db, survey)), surveyName };
}
