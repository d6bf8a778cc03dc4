import { jobActor, recordAct, type Writer } from '../audit/acts.ts';
import { countRejects, listRejects } from '../contacts/upload.queries.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { csvLine } from '../lib/export/export.ts';
import type { Log } from '../lib/log/log.ts';
import { readUsage } from '../organizations/queries.ts';
import { lockOpenSurvey } from '../sends/claim.ts';
import { findReader } from '../sends/test-mail.ts';
import { getOrgSurvey, type ManagedSurvey, type OrgSurvey } from '../surveys/queries.ts';
import { languageFor, ownValue, placeholdersIn } from '../surveys/texts.ts';
import {
  type AdvanceTools,
  enqueueTurn,
  isMailed,
  judgeCampaign,
  startCampaign,
  stopIn,
  withdrawBatches,
} from './advance.ts';
import { contactRow, type JudgedContact, judgeAskable } from './judge.ts';
import {
  type CampaignState,
  changeCampaign,
  countContacts,
  findCampaignOfBatch,
  insertCampaign,
  listReaders,
  lockCampaign,
} from './queries.ts';

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
  return await inTransaction(tools.db, async (tx) => {
    const survey = { orgId, surveyId: wish.surveyId };
    const { name } = await getOrgSurvey(tx, orgId, wish.surveyId);
    const campaignId = await insertCampaign(tx, {
      org_id: orgId,
      survey_id: wish.surveyId,
      name: wish.name ?? name,
      per_hour: wish.per_hour ?? null,
      status: sendAt ? 'scheduled' : 'running',
      send_at: wish.send_at ?? null,
      next_at: sendAt ?? now,
      created_at: now,
    });
    const campaign = { id: campaignId, org_id: orgId, survey_id: wish.surveyId, turn: 0 };
    if (sendAt) {
      await lockOpenSurvey(tx, survey);
      // Its size as of now. The start judges again, and reserves the quota.
      const { total, mailed: waiting } = await judgeCampaign(tx, survey);
      await changeCampaign(tx, campaign, { total, waiting, duplicates: total - waiting });
    }
    const isOn = sendAt !== null || (await startCampaign(tx, campaign, now));
    if (isOn) await enqueueTurn(tx, campaign, sendAt ?? now);
    const target = { kind: 'campaign', id: campaignId } as const;
    const details = { survey_id: wish.surveyId };
    await recordAct(tx, { orgId, actor, act: 'campaign.created', target, details });
    return campaignId;
  });
}

/** Says what a campaign would do now: the same judgement and the same refusals; nothing is written. */
export async function tryCampaign({ db }: { db: Db }, survey: OrgSurvey) {
  const { name: surveyName } = await getOrgSurvey(db, survey.orgId, survey.surveyId);
  await inTransaction(db, (tx) => lockOpenSurvey(tx, survey));
  return { ...(await judgeCampaign(db, survey)), surveyName };
}

/** Keeps a campaign from mailing on: what was claimed and has not begun waits again. A paused one stays so. */
export const pauseCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, async (tx, campaign) => {
    if (campaign.status === 'paused') return;
    await withdrawBatches(tx, campaign);
    await changeCampaign(tx, campaign, { status: 'paused', next_at: null });
    await recordAct(tx, { ...by, act: 'campaign.paused', target: { kind: 'campaign', id } });
  });

/**
 * Pauses a campaign of which the mail server refuses all mails: they would use up its contacts. Returns whether its
 * mails wait with it again; what a survey does by itself cannot be paused.
 */
export async function pauseRefusedCampaign(
  { db, log, orgId }: { db: Db; log: Log; orgId: string },
  batch: { id: string; reason: string },
) {
  const did = await inTransaction(db, async (tx) => {
    const campaignId = await findCampaignOfBatch(tx, orgId, batch.id);
    const campaign = campaignId ? await lockCampaign(tx, { orgId, campaignId }) : undefined;
    if (campaign?.kind !== 'campaign') return 'nothing';
    if (campaign.status !== 'running' && campaign.status !== 'paused') return 'nothing';
    // Also of a paused one: mails that were under way when it was paused have come back.
    await withdrawBatches(tx, campaign);
    if (campaign.status === 'paused') return 'withdrew';
    const { reason } = batch;
    await changeCampaign(tx, campaign, { status: 'paused', reason, next_at: null });
    const target = { kind: 'campaign', id: campaign.id } as const;
    await recordAct(tx, { orgId, actor: jobActor('campaigns'), act: 'campaign.paused', target });
    return 'paused';
  });
  if (did === 'paused') {
    log.warn({ org_id: orgId }, 'a campaign was paused: the mail server refuses its mails');
  }
  return did !== 'nothing';
}

/** Lets a paused campaign go on, at its pace from now on. Another stays as it is. */
export const resumeCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, async (tx, campaign, now) => {
    if (campaign.status !== 'paused') return;
    const turn = campaign.turn + 1;
    const status = campaign.started_at ? 'running' : 'scheduled';
    const at = { next_at: now, next_mail_at: now };
    await changeCampaign(tx, campaign, { status, turn, reason: null, ...at });
    await enqueueTurn(tx, { ...campaign, turn }, now);
    await recordAct(tx, { ...by, act: 'campaign.resumed', target: { kind: 'campaign', id } });
  });

export const stopCampaign = (tools: AdvanceTools, by: Writer, id: string) =>
  control(tools, { by, id }, (tx, campaign, now) => stopIn(tx, campaign, { now, actor: by.actor }));

async function control(
  tools: AdvanceTools,
  { by, id }: { by: Writer; id: string },
  act: (tx: Sql, campaign: CampaignState, now: Date) => Promise<void>,
) {
  await inTransaction(tools.db, async (tx) => {
    const campaign = await lockCampaign(tx, { orgId: by.orgId, campaignId: id });
    if (campaign?.kind !== 'campaign') throw notFound('campaign');
    if (!['scheduled', 'running', 'paused'].includes(campaign.status)) {
      const over = `the campaign is over: it is ${campaign.status}`;
      throw new Refusal('conflict', over, { code: 'campaign_over' });
    }
    await act(tx, campaign, tools.now?.() ?? new Date());
  });
}

const examplesOfReason = 8;
const maxRejects = 1000;

type Example = { email: string; remark: string | null };

export type JudgementView = Awaited<ReturnType<typeof viewJudgement>>;

/**
 * Who would be mailed, why others would not, and what those who are mailed would read; `invalid` are lines of the list
 * uploaded last without a usable address.
 */
export async function viewJudgement(sql: Sql, survey: OrgSurvey) {
  const examples = new Map<string, Example[]>();
  const words = await getOrgSurvey(sql, survey.orgId, survey.surveyId);
  const fallbacks = new Map<string, Fallback>();
  const firstIds: string[] = [];
  const [contacts, rejects, invalid, judged] = await Promise.all([
    countContacts(sql, survey),
    listRejects(sql, survey, { atMost: examplesOfReason }),
    countRejects(sql, survey),
    judgeCampaign(sql, survey, async (some) => {
      keepExamples(examples, some);
      const mailed = some.filter(isMailed);
      if (firstIds.length === 0) firstIds.push(...mailed.slice(0, 1).map(({ id }) => id));
      await countFallbacks(sql, words, { fallbacks, contacts: mailed });
    }),
  ]);
  const alreadyAsked = Math.max(contacts - judged.total, 0);
  const reasons = [...judged.reasons]
    .map(([code, people]) => ({ code, people, examples: examples.get(code) ?? [] }))
    .sort((one, other) => other.people - one.people);
  if (alreadyAsked > 0) {
    reasons.unshift({ code: 'already_sent', people: alreadyAsked, examples: [] });
  }
  if (invalid > 0) {
    const lines = rejects.map(({ line, value, reason }) => ({
      email: value === '' ? '(empty)' : value,
      remark: `line ${line}: ${reason}`,
    }));
    reasons.push({ code: 'invalid_email', people: invalid, examples: lines });
  }
  const { total, mailed, used, monthly_send_limit: monthlyLimit } = judged;
  const blocked = total - mailed;
  const [firstId] = firstIds;
  const reader = firstId && (await findReader(sql, survey, firstId));
  return {
    ...{ mailed, blocked, alreadyAsked, invalid, reasons, used, monthlyLimit },
    fallbacks: [...fallbacks.values()].sort((one, other) =>
      one.placeholder < other.placeholder ? -1 : 1,
    ),
    /** The first recipient. */
    reader: reader || null,
  };
}

/** How many of the recipients who read a placeholder have no value for it. */
type Fallback = { placeholder: string; fallbacks: Set<string>; readers: number; without: number };

const readersAtOnce = 1000;

async function countFallbacks(
  sql: Sql,
  survey: ManagedSurvey,
  { fallbacks, contacts }: { fallbacks: Map<string, Fallback>; contacts: readonly JudgedContact[] },
) {
  const languages = [survey.language, ...Object.keys(survey.texts)];
  const byLanguage = new Map(languages.map((tag) => [tag, placeholdersIn(survey, tag)]));
  if ([...byLanguage.values()].every((placeholders) => placeholders.length === 0)) return;
  for (let from = 0; from < contacts.length; from += readersAtOnce) {
    const ids = contacts.slice(from, from + readersAtOnce).map(({ id }) => id);
    for (const person of await listReaders(sql, survey, ids)) {
      const language = languageFor(survey, { property: person.properties['language'] });
      const read = Map.groupBy(byLanguage.get(language) ?? [], ({ value }) => value);
      for (const [value, placeholders] of read) {
        const none = { placeholder: value, fallbacks: new Set<string>(), readers: 0, without: 0 };
        const row = fallbacks.get(value) ?? none;
        fallbacks.set(value, row);
        row.readers += 1;
        if (ownValue(value, person) === '') row.without += 1;
        for (const { fallback } of placeholders) row.fallbacks.add(fallback);
      }
    }
  }
}

function keepExamples(examples: Map<string, Example[]>, judged: readonly JudgedContact[]) {
  for (const { email, judgement } of judged) {
    if ('send' in judgement) continue;
    const { reason_code, reason } = judgement;
    const some = examples.get(reason_code) ?? [];
    examples.set(reason_code, some);
    const remark = reason_code === 'frequency' ? reason : null;
    if (some.length < examplesOfReason) some.push({ email, remark });
  }
}

const head = ['email', 'will_be_mailed', 'reason', 'reason_code', 'line'];

/** The judgement of each contact that is still to be asked, and the unusable lines of the list uploaded last. */
export async function* exportJudgement(sql: Sql, survey: OrgSurvey) {
  yield csvLine(head);
  const { frequency_days: frequencyDays } = await readUsage(sql, survey.orgId);
  for await (const judged of judgeAskable(sql, survey, frequencyDays)) {
    const lines = judged.map((each) => {
      const { reason, reason_code } = contactRow(each);
      return csvLine([each.email, reason_code === null, reason, reason_code, null]);
    });
    yield lines.join('');
  }
  const rejects = await listRejects(sql, survey, { atMost: maxRejects });
  yield rejects
    .map(({ line, value, reason }) => csvLine([value, false, reason, 'invalid_email', line]))
    .join('');
}
