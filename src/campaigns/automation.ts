import { Refusal } from '../errors.ts';
import { inTransaction, type Sql } from '../lib/db/db.ts';
import { addUsage, lockUsage } from '../organizations/queries.ts';
import { lockOpenSurvey, saveBlocked } from '../sends/claim.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { type AdvanceTools, enqueueTurn } from './advance.ts';
import {
  countEnrolled,
  findRemindedUntil,
  judgementsOf,
  judgeSome,
  listDueToAsk,
  listDueToRemind,
  listSelfAsking,
  type SelfAskingSurvey,
  type StandingCampaign,
  saveSeenUntil,
  saveStanding,
} from './judge.ts';
import {
  insertCampaignContacts,
  type NewCampaignContact,
  recountBatches,
  renewOverdue,
} from './queries.ts';
import { nextOpening } from './rules.ts';

/** Longer than a step of a campaign takes. */
const overdueMs = 60_000;

/** Goes on with campaigns whose job was lost, counts outcomes that came late, and asks and reminds what is due. */
export async function sweepCampaigns(tools: AdvanceTools) {
  const { db, now = () => new Date() } = tools;
  await inTransaction(db, (tx) => renewTurns(tx, now()));
  await recountBatches(db);
  await sendAutomatically(tools);
}

async function renewTurns(tx: Sql, now: Date) {
  const overdue = await renewOverdue(tx, new Date(now.getTime() - overdueMs));
  for (const { campaign_id: id, org_id, turn } of overdue) {
    await enqueueTurn(tx, { id, org_id, turn }, now);
  }
}

const enrolledAtOnce = 2000;
const dayMs = 24 * 60 * 60 * 1000;

/** Asks and reminds the contacts that have fallen due, of every survey whose window is open. */
export async function sendAutomatically(tools: AdvanceTools) {
  const now = tools.now?.() ?? new Date();
  const failures: unknown[] = [];
  for (const survey of await listSelfAsking(tools.db)) {
    if (nextOpening(survey.send_window, now) > now) continue;
    // What is wrong with one survey keeps no other from asking.
    await askAndRemind(tools, survey, now).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

async function askAndRemind(tools: AdvanceTools, survey: SelfAskingSurvey, now: Date) {
  if (survey.ask_after_days !== null) await askDue(tools, survey, now);
  for (const [place, { after_days }] of survey.reminders.entries()) {
    await enroll(tools, { survey, now, reminder: place + 1, afterDays: after_days });
  }
}

/** Contacts that were there when asking by itself was set count from then. */
async function askDue(tools: AdvanceTools, survey: SelfAskingSurvey, now: Date) {
  const afterDays = survey.ask_after_days!;
  const sinceMs = survey.ask_since?.getTime() ?? 0;
  if (sinceMs + afterDays * dayMs > now.getTime()) return;
  await enroll(tools, { survey, now, reminder: 0, afterDays });
}

type Enrolment = { survey: SelfAskingSurvey; now: Date; reminder: number; afterDays: number };

/** Adds what is due until nothing is, so many contacts at a time. A survey that was closed meanwhile is left alone. */
async function enroll(tools: AdvanceTools, enrolment: Enrolment) {
  for (let goesOn = true; goesOn; ) {
    goesOn = await inTransaction(tools.db, (tx) => enrollSome(tx, enrolment)).catch((error) => {
      if (error instanceof Refusal) return false;
      throw error;
    });
  }
}

async function enrollSome(tx: Sql, { survey, now, reminder, afterDays }: Enrolment) {
  const orgSurvey = { orgId: survey.org_id, surveyId: survey.survey_id };
  const kind = reminder === 0 ? 'asking' : 'reminder';
  const campaign = await saveStanding(tx, { survey, kind, reminder, afterDays, now });
  const due = { campaign, afterDays, now, atMost: enrolledAtOnce };
  const list = kind === 'asking' ? listDueToAsk : listDueToRemind;
  const contacts = await list(tx, orgSurvey, due);
  if (contacts.length === 0) {
    await moveOn(tx, orgSurvey, { campaign, kind, afterDays, now });
    return false;
  }
  const settings = await lockUsage(tx, survey.org_id, now);
  // The quota of contacts that wait is that of an earlier month: they go first.
  if (campaign.waiting > 0 && campaign.month !== settings.month) return false;
  await lockOpenSurvey(tx, orgSurvey);
  const room = Math.max(settings.monthly_send_limit - settings.used, 0);
  const frequencyDays = settings.frequency_days;
  const rows =
    kind === 'asking'
      ? await judgeAsked(tx, orgSurvey, { contacts, frequencyDays, room })
      : contacts.map(({ id }, place) => ({ contact_id: id, ...(place < room ? open : overLimit) }));
  const ids = { orgId: survey.org_id, campaignId: campaign.id };
  await insertCampaignContacts(tx, { ...orgSurvey, campaignId: campaign.id }, rows);
  const waiting = rows.filter(({ reason_code }) => reason_code === null).length;
  const turn = campaign.turn + 1;
  await addUsage(tx, survey.org_id, settings.month, waiting);
  await countEnrolled(tx, ids, { total: rows.length, waiting, month: settings.month, turn, now });
  await enqueueTurn(tx, { org_id: survey.org_id, id: campaign.id, turn }, now);
  return contacts.length === enrolledAtOnce && rows.length === contacts.length;
}

const open = { reason_code: null, reason: null };
const overLimit = {
  reason_code: 'send_limit',
  reason: 'the monthly send limit was reached when the reminder was due',
};

type ToAsk = Parameters<typeof judgeSome>[2] & { room: number };

async function judgeAsked(tx: Sql, survey: OrgSurvey, { contacts, frequencyDays, room }: ToAsk) {
  const judged = await judgeSome(tx, survey, { contacts, frequencyDays });
  await saveBlocked(tx, survey, judgementsOf(judged));
  let free = room;
  return judged.flatMap(({ id, judgement }): NewCampaignContact[] => {
    if (!('send' in judgement)) {
      const { reason_code, reason } = judgement;
      return [{ contact_id: id, reason_code, reason }];
    }
    free -= 1;
    return free >= 0 ? [{ contact_id: id, ...open }] : [];
  });
}

type Looked = {
  campaign: StandingCampaign;
  kind: 'asking' | 'reminder';
  afterDays: number;
  now: Date;
};

/** Remembers up to when all is done, so that the next look is short. */
async function moveOn(tx: Sql, survey: OrgSurvey, { campaign, kind, afterDays, now }: Looked) {
  const asked = new Date(now.getTime() - afterDays * dayMs);
  const until =
    kind === 'asking' ? asked : await findRemindedUntil(tx, survey, { campaign, afterDays, now });
  await saveSeenUntil(tx, { orgId: survey.orgId, campaignId: campaign.id }, until);
}
