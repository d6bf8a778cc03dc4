import { randomUUID } from 'node:crypto';
import { type Actor, jobActor, recordAct, type Writer } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import { enqueue, type JobPayloads } from '../jobs.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { getOrganization } from '../organizations/queries.ts';
import { emitted } from '../signals.ts';
import { type Category, netPromoterScore, percentage, signedNps } from '../survey-types.ts';
import { emit } from '../webhooks/emit.ts';
import { summaryGenerated } from '../webhooks/events.ts';
import type { Analyst } from './analyst.ts';
import {
  countPeriod,
  countThemes,
  countUnanalyzed,
  endOfDay,
  findMonthDue,
  insertSummary,
  listMonthsDue,
  listQuotes,
  type SummaryPeriod,
  type SummaryRow,
  startOfDay,
  startOfPeriodBefore,
  type ThemeCount,
  type Volume,
} from './queries.ts';
import { daysOf, monthWaitMs, tidyText } from './rules.ts';

type MakeTools = { db: Db };

type SummaryDays = { from: string; to: string };

export async function periodOfDays(
  db: Db,
  timeZone: string,
  { from, to }: SummaryDays,
): Promise<SummaryPeriod> {
  if (from > to) {
    throw new Refusal('invalid', 'The first day must not be after the last', {
      code: 'period_backwards',
    });
  }
  return { start: await startOfDay(db, timeZone, from), end: await endOfDay(db, timeZone, to) };
}

/** Has a summary made by a job: an analyst may take long for its words. Returns the id that it will have. */
export async function requestSummary(
  { db }: MakeTools,
  { orgId, actor }: Writer,
  { start, end }: SummaryPeriod,
): Promise<string> {
  const id = randomUUID();
  const payload = {
    org_id: orgId,
    summary_id: id,
    actor: asPayload(actor),
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    waits: 0,
  };
  await enqueue(db, [{ task: 'summaries.make', payload, traceparent: null }]);
  return id;
}

const asPayload = ({ kind, id, name, requestId }: Actor) => ({
  kind,
  id,
  name,
  ...(requestId !== undefined && { requestId }),
});

const waitMs = 10_000;

/** The job. As often as its payload says, it waits for comments of the period that are still to be read. */
export async function makeSummary(
  tools: SummaryTools,
  job: JobPayloads['summaries.make'],
  traceparent: string | null,
) {
  const organization = await getOrganization(tools.db, job.org_id);
  const period = { start: new Date(job.period_start), end: new Date(job.period_end) };
  if (
    job.waits > 0 &&
    (await countUnanalyzed(tools.db, job.org_id, { ...period, askedAt: null }))
  ) {
    const payload = { ...job, waits: job.waits - 1 };
    const runAt = new Date(Date.now() + waitMs);
    return await enqueue(tools.db, [{ task: 'summaries.make', payload, runAt, traceparent }]);
  }
  const { kind, id, name, requestId } = job.actor;
  const actor = { kind, id, name, requestId };
  const wish = { organization, period, scheduled: false, actor, id: job.summary_id, traceparent };
  await summarize(tools, wish);
}

export const reportType = 'executive-summary';
const quotesPerCategory = 1;
const longestQuote = 200;

/** Removes known people from a text, and everything else that could be a name. */
export type Redact = (
  text: string,
  known: { orgId: string; names: readonly string[]; emails: readonly string[] },
) => Promise<string>;

export type SummaryTools = {
  db: Db;
  log: Log;
  analyst: Analyst;
  redact: Redact;
};

type Organization = { id: string; name: string; time_zone: string; ai_enabled: boolean };
type SummaryRequest = {
  organization: Organization;
  period: SummaryPeriod;
  scheduled: boolean;
  actor: Actor;
  /** Of a summary that a job makes, so that a repeated job makes no second one. */
  id?: string;
  traceparent?: string | null;
};

/**
 * Writes the summary of a period, keeps it, and publishes it to subscribers in the same transaction. Gives
 * nothing back when it is there already, scheduled or by its id: another process was quicker.
 */
export async function summarize(
  tools: SummaryTools,
  wish: SummaryRequest,
): Promise<SummaryRow | undefined> {
  const { organization, period, scheduled, actor, id, traceparent = null } = wish;
  const facts = await gather(tools, organization, period);
  const text = await words(tools, organization, facts);
  const themes = facts.themes.map(({ theme }) => theme);
  const nps = netPromoterScore(facts.now);

  const summary = await inTransaction(tools.db, async (tx) => {
    const kept = await insertSummary(tx, organization.id, {
      id: id ?? randomUUID(),
      report_type: reportType,
      scheduled,
      period_start: period.start,
      period_end: period.end,
      nps,
      previous_nps: netPromoterScore(facts.before),
      responses: facts.now.responses,
      top_themes: themes,
      text,
    });
    if (kept) {
      await publish(tx, { orgId: organization.id, traceparent }, kept);
      const target = { kind: 'summary', id: kept.id };
      const details = daysOf(period, organization.time_zone);
      await recordAct(tx, {
        orgId: organization.id,
        actor,
        act: 'summary.created',
        target,
        details,
      });
    }
    return kept;
  });
  if (summary) emitted.publish({ event: 'summary.generated' });
  return summary;
}

type SummaryOwner = { orgId: string; traceparent: string | null };

async function publish(tx: Sql, whose: SummaryOwner, { nps, top_themes, created_at }: SummaryRow) {
  const event = summaryGenerated({ reportType, nps, themes: top_themes, at: created_at });
  await emit(tx, { ...whose, events: [event] });
}

async function gather(
  tools: SummaryTools,
  { id, name, time_zone }: Organization,
  period: SummaryPeriod,
) {
  const { db } = tools;
  const before = { start: await startOfPeriodBefore(db, time_zone, period), end: period.start };
  const quotes = await listQuotes(db, id, period, quotesPerCategory);
  const facts: ReportFacts = {
    organization: name,
    period: {
      from: dayIn(time_zone, period.start),
      to: dayIn(time_zone, new Date(period.end.getTime() - 1)),
    },
    now: await countPeriod(db, id, period),
    before: await countPeriod(db, id, before),
    themes: await countThemes(db, id, period, before),
    quotes: await Promise.all(
      quotes.map(async ({ comment, category, known_names, known_addresses }) => {
        const known = { orgId: id, names: known_names, emails: known_addresses };
        const text = (await tools.redact(comment, known)).replace(/\s+/g, ' ');
        return { category, text: tidyText(text, longestQuote) };
      }),
    ),
  };
  return facts;
}

/**
 * The analyst's words; where it has none, fails, or has a number that was not counted, the template's. Without
 * analysis switched on no analyst is asked.
 */
async function words(
  { analyst, log }: SummaryTools,
  { ai_enabled }: Organization,
  facts: ReportFacts,
): Promise<string> {
  const template = writeReport(facts);
  if (!ai_enabled) return template;
  const { organization: _, ...shown } = facts;
  const data = JSON.stringify(shown);
  const answer = await analyst.write(data);
  if (!answer.ok) log.warn({ why: answer.why }, 'the report is written from the template');
  if (!answer.ok || answer.value === null) return template;
  if (hasOnlyNumbersOf(answer.value, `${data} ${template}`)) return answer.value;
  log.warn('a written report had numbers of its own: the template is taken');
  return template;
}

const dayIn = (timeZone: string, moment: Date) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'long' }).format(moment);

/** The scheduled task: a job for each organization whose last month has no summary yet. */
export async function planMonths(
  { db }: Pick<SummaryTools, 'db'>,
  traceparent: string | null = null,
) {
  const due = await listMonthsDue(db, reportType);
  await enqueue(
    db,
    due.map(({ org_id }) => ({
      task: 'summaries.month',
      payload: { org_id, tries: 0 },
      traceparent,
    })),
  );
}

/**
 * The summary of an organization's last month. It waits a while for comments that are still to be
 * analyzed, and then goes without them: the hourly plan comes again if this job is lost.
 */
export async function summarizeMonth(
  tools: SummaryTools,
  job: { org_id: string; tries: number },
  traceparent: string | null = null,
) {
  const { db } = tools;
  const due = await findMonthDue(db, job.org_id, reportType);
  if (!due) return;
  const { start, end, ...organization } = due;
  const left = await countUnanalyzed(db, job.org_id, { start, end, askedAt: null });
  const waitMs = left > 0 ? monthWaitMs(job.tries) : null;
  if (waitMs === null) {
    const period = { start, end };
    const actor = jobActor('summaries.month');
    await summarize(tools, { organization, period, scheduled: true, actor, traceparent });
    return;
  }
  const payload = { ...job, tries: job.tries + 1 };
  const runAt = new Date(Date.now() + waitMs);
  await enqueue(db, [{ task: 'summaries.month', payload, runAt, traceparent }]);
}

/** All that a report is written from. Quotes have no recognizable person in them. */
export type ReportFacts = {
  organization: string;
  period: { from: string; to: string };
  now: Volume;
  before: Volume;
  themes: readonly ThemeCount[];
  quotes: readonly { category: Category; text: string }[];
};

/** The report in words, written from a template: what happened, why, and what people said. */
export function writeReport(facts: ReportFacts): string {
  const paragraphs = [headline(facts), mood(facts), subjects(facts), voices(facts)];
  return paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
}

function headline({ organization, period, now, before }: ReportFacts): string {
  const between = `From ${period.from} to ${period.to}`;
  if (now.responses === 0) return `${between}, ${organization} received no answers.`;
  const answers = `${organization} received ${count(now.responses, 'answer')}`;
  const nps = netPromoterScore(now);
  const earlier = netPromoterScore(before);
  const change = `, ${volumeChange(now.responses, before.responses)}`;
  const score = `The Net Promoter Score was ${signedNps(nps ?? 0)}${npsChange(nps, earlier)}.`;
  return `${between}, ${answers}${change}. ${score}`;
}

function volumeChange(now: number, before: number): string {
  if (before === 0) return 'with none in the period before to compare';
  if (now === before) return `as many as in the period before`;
  const percent = Math.round((100 * Math.abs(now - before)) / before);
  return `${percent}% ${now > before ? 'more' : 'fewer'} than the ${before} of the period before`;
}

function npsChange(now: number | null, before: number | null): string {
  if (now === null || before === null) return '';
  if (now === before) return ', unchanged';
  const points = count(Math.abs(now - before), 'point');
  return `, ${now > before ? 'up' : 'down'} ${points} from ${signedNps(before)}`;
}

function mood({ now }: ReportFacts): string {
  if (now.responses === 0) return '';
  const share = (part: number) => `${percentage(part, now.responses)}%`;
  return [
    `${share(now.promoters)} of the respondents are promoters,`,
    `${share(now.passives)} passives and ${share(now.detractors)} detractors`,
    `(${now.promoters}, ${now.passives} and ${now.detractors}).`,
  ].join(' ');
}

function subjects({ themes }: ReportFacts): string {
  const [first, ...rest] = themes;
  if (!first) return '';
  const others = rest.map(
    ({ theme, mentions, before }) => `${theme} (${mentions}, ${trend(mentions, before)})`,
  );
  const more = others.length > 0 ? ` Then came ${listed(others)}.` : '';
  const main = `People spoke most of ${first.theme}: ${count(first.mentions, 'mention')}, ${trend(first.mentions, first.before)}.`;
  return `${main}${more}${sorest(themes)}`;
}

const trend = (now: number, before: number) => {
  if (before === 0) return 'new';
  if (now === before) return 'as before';
  return `${now > before ? 'up' : 'down'} from ${before}`;
};

/** What detractors speak of most is what to mend first. */
function sorest(themes: readonly ThemeCount[]): string {
  const [worst] = [...themes].sort((one, other) => other.detractors - one.detractors);
  if (!worst || worst.detractors < 2) return '';
  return ` Detractors speak most of ${worst.theme} (${worst.detractors} of its ${worst.mentions} mentions): that is where to look first.`;
}

function voices({ quotes }: ReportFacts): string {
  const lines = quotes.map(({ category, text }) => `- “${text}” (${category})`);
  return lines.length === 0 ? '' : `In their words:\n${lines.join('\n')}`;
}

const count = (number: number, thing: string) => `${number} ${thing}${number === 1 ? '' : 's'}`;
const listed = (words: readonly string[]) =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(words);

/** Whether a text brings no number that the facts do not have: what is counted was counted by us. */
export function hasOnlyNumbersOf(text: string, facts: string): boolean {
  const known = new Set(numbersIn(facts));
  return numbersIn(text).every((number) => known.has(number));
}

const numbersIn = (text: string): string[] =>
  text.replace(/(?<=\d),(?=\d{3}(?!\d))/g, '').match(/\d+(?:\.\d+)?/g) ?? [];
