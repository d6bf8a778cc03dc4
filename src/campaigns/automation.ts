import { Refusal } from '../errors.ts';
import { inTransaction, type Sql } from '../lib/db/db.ts';
import { lockUsage } from '../organizations/queries.ts';
import { lockOpenSurvey, saveBlocked } from '../sends/claim.ts';
import { type AdvanceTools, enqueueTurn, enrollContacts } from './advance.ts';
import {
  type AutomaticSurvey,
  contactRow,
  type Enrollment,
  enrollBatchSize,
  findRemindedUntil,
  judgementsOf,
  judgeSome,
  listAutomaticSurveys,
  listDueToAsk,
  listDueToRemind,
  saveAutomation,
  saveSeenUntil,
} from './judge.ts';
import { endBatches, type NewCampaignContact, renewOverdue } from './queries.ts';
import { askRounds } from './rounds.ts';
import { nextOpening } from './rules.ts';

/** A turn takes less time than this. */
const overdueMs = 60_000;

export async function sweepCampaigns(tools: AdvanceTools) {
  const { db, now = () => new Date() } = tools;
  await inTransaction(db, async (tx) => {
    const at = now();
    const overdue = await renewOverdue(tx, new Date(at.getTime() - overdueMs));
    for (const campaign of overdue) await enqueueTurn(tx, campaign, at);
  });
  await endBatches(db);
  await sendAutomatically(tools);
}

const dayMs = 24 * 60 * 60 * 1000;

export async function sendAutomatically(tools: AdvanceTools) {
  const now = tools.now?.() ?? new Date();
  const failures: unknown[] = [];
  for (const survey of await listAutomaticSurveys(tools.db)) {
    if (nextOpening(survey.send_window, now) > now) continue;
    // An error in one survey must not stop the others.
    await askAndRemind(tools, survey, now).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

async function askAndRemind(tools: AdvanceTools, survey: AutomaticSurvey, now: Date) {
  if (survey.ask_after_days !== null) await askDue(tools, survey, now);
  if (survey.repeats) await askRounds(tools, survey, now);
  for (const [place, { after_days }] of survey.reminders.entries()) {
    const reminder = { kind: 'reminder', reminder: place + 1, afterDays: after_days } as const;
    await enroll(tools, { survey, now, ...reminder });
  }
}

/** Contacts that existed when `ask_after_days` was set count from that moment. */
async function askDue(tools: AdvanceTools, survey: AutomaticSurvey, now: Date) {
  const afterDays = survey.ask_after_days!;
  const sinceMs = survey.ask_since?.getTime() ?? 0;
  if (sinceMs + afterDays * dayMs > now.getTime()) return;
  await enroll(tools, { survey, now, kind: 'asking', reminder: 0, afterDays });
}

/** Enrolls due contacts in batches. A refusal means that the survey was closed meanwhile. */
async function enroll(tools: AdvanceTools, enrollment: Enrollment) {
  for (let hasMore = true; hasMore; ) {
    hasMore = await inTransaction(tools.db, (tx) => enrollSome(tx, enrollment)).catch((error) => {
      if (error instanceof Refusal) return false;
      throw error;
    });
  }
}

async function enrollSome(tx: Sql, enrollment: Enrollment) {
  const { survey, now, kind, afterDays } = enrollment;
  const { org_id: orgId, survey_id: surveyId } = survey;
  const isAsking = kind === 'asking';
  const campaign = await saveAutomation(tx, enrollment);
  const due = { ...enrollment, campaign };
  const contacts = await (isAsking ? listDueToAsk : listDueToRemind)(tx, due);
  if (contacts.length === 0) {
    // The next run starts where this one found no more contacts.
    const asked = new Date(now.getTime() - afterDays * dayMs);
    await saveSeenUntil(tx, due, isAsking ? asked : await findRemindedUntil(tx, due));
    return false;
  }
  const settings = await lockUsage(tx, orgId, now);
  // Waiting contacts go first, because they hold quota of an earlier month.
  if (campaign.waiting > 0 && campaign.month !== settings.month) return false;
  await lockOpenSurvey(tx, { orgId, surveyId });
  const room = Math.max(settings.monthly_send_limit - settings.used, 0);
  let rows: NewCampaignContact[];
  if (isAsking) {
    const rules = { frequencyDays: settings.frequency_days };
    const judged = await judgeSome(tx, { orgId, surveyId }, contacts, rules);
    await saveBlocked(tx, { orgId, surveyId }, judgementsOf(judged));
    let free = room;
    rows = judged.map(contactRow).filter(({ reason_code }) => reason_code !== null || free-- > 0);
  } else {
    rows = contacts.map(({ id: contact_id }, place) => {
      return { contact_id, ...(place < room ? { reason_code: null, reason: null } : overLimit) };
    });
  }
  await enrollContacts(tx, due, { rows, month: settings.month });
  return contacts.length === enrollBatchSize && rows.length === contacts.length;
}

const overLimit = {
  reason_code: 'send_limit',
  reason: 'the monthly send limit was reached when the reminder was due',
};
