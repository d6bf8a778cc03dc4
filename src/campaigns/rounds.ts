import { startRounds } from '../contacts/rounds.ts';
import { Refusal } from '../errors.ts';
import { inTransaction, type Sql } from '../lib/db/db.ts';
import { lockUsage, readUsage } from '../organizations/queries.ts';
import { addAudience } from '../people/audience.ts';
import type { PeopleFilter } from '../people/filter.ts';
import { addDays, localDay } from '../responses/period.ts';
import { lockOpenSurvey, saveBlocked } from '../sends/claim.ts';
import { getOrgSurvey, type OrgSurvey, reopenSurvey } from '../surveys/queries.ts';
import { type AdvanceTools, enrollContacts, isMailed } from './advance.ts';
import { cycleTables, fitDays, maxPerDay, openDays, type ScheduledDay } from './cycle.ts';
import {
  type AskableContact,
  type AutomaticSurvey,
  judgementsOf,
  judgeSome,
  saveAutomation,
} from './judge.ts';
import {
  countAsked,
  countByDay,
  countInRounds,
  findRepeating,
  forgetBlocked,
  listDueRounds,
  type RepeatingSurvey,
} from './rounds.queries.ts';
import { nextOpening } from './rules.ts';

const roundBatchSize = 5000;
/** Extra contacts read per run, because rules may block some. */
const maxBlockedPerRun = 1000;
const maxPerRun = 1_000_000;

/** Asks the contacts whose round is due, up to the daily and monthly limits. The rest stays due. */
export async function askRounds(tools: AdvanceTools, automatic: AutomaticSurvey, now: Date) {
  const survey = { orgId: automatic.org_id, surveyId: automatic.survey_id };
  const { repeating } = await findRepeating(tools.db, survey);
  if (!repeating) return;
  if (repeating.people) await addPeople(tools, survey, repeating.people);
  const usage = await readUsage(tools.db, survey.orgId, now);
  if (usage.used >= usage.monthly_send_limit) return;
  const people = await countInRounds(tools.db, survey, repeating);
  const most = maxPerDay(repeating.repeat, openDays(repeating.send_window), people);
  const day = { zone: repeating.zone, now };
  const left = most === null ? maxPerRun : most - (await countAsked(tools.db, survey, day));
  if (left <= 0) return;
  const atMost = Math.min(left + maxBlockedPerRun, maxPerRun);
  const due = await listDueRounds(tools.db, survey, { repeating, now, atMost });
  for (let from = 0; from < due.length; from += roundBatchSize) {
    const contacts = due.slice(from, from + roundBatchSize);
    const batch = { automatic, repeating, contacts, most, now };
    const hasRoom = await inTransaction(tools.db, (tx) => enrollRound(tx, batch)).catch((error) => {
      // The survey was closed meanwhile.
      if (error instanceof Refusal) return false;
      throw error;
    });
    if (!hasRoom) return;
  }
}

/** Adds people who are new in the audience. A refusal means that the survey was closed meanwhile. */
async function addPeople({ db }: AdvanceTools, survey: OrgSurvey, people: PeopleFilter) {
  await inTransaction(db, async (tx) => {
    await lockOpenSurvey(tx, survey);
    const added = await addAudience(tx, survey, people);
    if (added > 0) await reopenSurvey(tx, survey.orgId, survey.surveyId);
  }).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
  });
}

type RoundBatch = {
  automatic: AutomaticSurvey;
  repeating: RepeatingSurvey;
  contacts: readonly AskableContact[];
  /** Maximum number of contacts of the day, or null. */
  most: number | null;
  now: Date;
};

/**
 * Starts the round of contacts that no rule blocks, up to the limits of the day and the month. Returns false if there is
 * no room for more.
 */
async function enrollRound(
  tx: Sql,
  { automatic, repeating, contacts, most, now }: RoundBatch,
): Promise<boolean> {
  const { org_id: orgId, survey_id: surveyId } = automatic;
  const survey = { orgId, surveyId };
  const afterDays = repeating.repeat.every_days;
  const enrollment = { survey: automatic, kind: 'round', reminder: 0, afterDays, now } as const;
  const campaign = await saveAutomation(tx, enrollment);
  const settings = await lockUsage(tx, orgId, now);
  // Waiting contacts go first, because they hold quota of an earlier month.
  if (campaign.waiting > 0 && campaign.month !== settings.month) return false;
  await lockOpenSurvey(tx, survey);
  const { repeat } = await getOrgSurvey(tx, orgId, surveyId);
  if (JSON.stringify(repeat) !== JSON.stringify(repeating.repeat)) return false;

  const judged = await judgeSome(tx, survey, contacts, {
    frequencyDays: settings.frequency_days,
    at: now,
  });
  await saveBlocked(tx, survey, judgementsOf(judged));
  // The lock on the campaign lets one planner at a time count and ask.
  const asked = most === null ? 0 : await countAsked(tx, survey, { zone: repeating.zone, now });
  const room = Math.max(
    Math.min(settings.monthly_send_limit - settings.used, (most ?? maxPerRun) - asked),
    0,
  );
  const mailable = judged.filter(isMailed).slice(0, room);
  const started = await startRounds(tx, survey, { keys: mailable.map(({ key }) => key), at: now });
  const newKeys = new Set(started.map(({ key }) => key));
  const begun = await listBegun(
    tx,
    survey,
    mailable.filter(({ key }) => !newKeys.has(key)).map(({ id }) => id),
  );
  const contactIds = [...started, ...begun].map(({ id }) => id);
  if (contactIds.length > 0) {
    if (started.length > 0) await reopenSurvey(tx, orgId, surveyId);
    await forgetBlocked(tx, { orgId, campaignId: campaign.id }, contactIds);
    const rows = contactIds.map((contact_id) => ({ contact_id, reason_code: null, reason: null }));
    await enrollContacts(tx, { ...enrollment, campaign }, { rows, month: settings.month });
  }
  return contactIds.length < room;
}

/** Contacts whose round began without an email, because a rule blocked it. */
const listBegun = (tx: Sql, { orgId, surveyId }: OrgSurvey, ids: readonly string[]) => tx<
  { id: string }[]
>`
  select id
  from contacts
  where org_id = ${orgId} and survey_id = ${surveyId} and id = any (${[...ids]}::uuid[])
    and not superseded and sent_at is null and status in ('pending', 'bounced', 'unsubscribed')`;

const scheduledDays = 30;

/**
 * Counts the contacts to ask on each of the next days, in the time zone of the survey. A contact counts once per round.
 */
export async function scheduleOf(
  { db, now = () => new Date() }: AdvanceTools,
  survey: OrgSurvey,
): Promise<ScheduledDay[]> {
  const { zone, repeating } = await findRepeating(db, survey);
  const at = now();
  const today = localDay(at, zone);
  const dates = Array.from({ length: scheduledDays }, (_, day) => addDays(today, day));
  if (!repeating) return dates.map((date) => ({ date, count: 0 }));
  const counted = await countByDay(db, survey, { repeating, today, days: scheduledDays });
  const counts = new Map(counted.map(({ date, count }) => [date, count]));
  const due = dates.map((date) => ({ date, count: counts.get(date) ?? 0 }));

  const { send_window: window, repeat } = repeating;
  const open = openDays(window);
  const people = await countInRounds(db, survey, repeating);
  const askedToday = await countAsked(db, survey, { zone, now: at });
  const most = maxPerDay(repeat, open, people);
  const isOpenToday = localDay(nextOpening(window, at), zone) === today;
  const weekday = (date: string) => Temporal.PlainDate.from(date).dayOfWeek - 1;
  const { shifted } = cycleTables(open, repeat.every_days);
  return fitDays(due, {
    capacityOf(date, place) {
      const isOpen = place === 0 ? isOpenToday : open[weekday(date)];
      if (!isOpen) return 0;
      if (most === null) return null;
      return place === 0 ? Math.max(most - askedToday, 0) : most;
    },
    daysToNext(date) {
      const shift = repeat.spread ? shifted[weekday(addDays(date, repeat.every_days))]! : 0;
      return Math.max(repeat.every_days + shift, repeating.frequency_days ?? 0);
    },
  });
}
