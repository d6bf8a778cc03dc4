import { randomUUID } from 'node:crypto';
import { type Actor, jobActor, recordAct, type Writer } from '../audit/acts.ts';
import { enqueue, type JobPayloads, type NewJob } from '../jobs.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { getOrganization } from '../organizations/queries.ts';
import { countKinds } from '../responses/kinds.ts';
import { emitted } from '../signals.ts';
import { type Category, netPromoterScore, type Tally } from '../survey-types.ts';
import { emit } from '../webhooks/emit.ts';
import { summaryGenerated } from '../webhooks/events.ts';
import type { Analyst } from './analyst.ts';
import {
  blockSentence,
  blocksOf,
  isCustomersNps,
  type ScoreBlock,
  sharesSentence,
} from './blocks.ts';
import {
  countThemes,
  countUnanalyzed,
  insertSummary,
  listMonthsDue,
  listQuotes,
  type SummaryRow,
  type ThemeCount,
} from './queries.ts';
import { daysOf, lastMoment, periodBefore, type SummaryPeriod, tidyText } from './rules.ts';

/** Enqueues the summary, because the analyst may take long. */
export const requestSummary = (db: Db, { orgId, actor }: Writer, period: SummaryPeriod) =>
  enqueue(db, [summaryJob(orgId, period, { actor })]);

type JobOptions = Pick<JobPayloads['summaries.make'], 'actor'> & {
  scheduled?: boolean;
  traceparent?: string | null;
};

/** A scheduled summary waits for pending analyses. Each period has at most one. */
export const summaryJob = (
  orgId: string,
  { start, end }: SummaryPeriod,
  { actor, scheduled = false, traceparent = null }: JobOptions,
): NewJob => ({
  task: 'summaries.make',
  payload: {
    org_id: orgId,
    summary_id: randomUUID(),
    actor,
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    scheduled,
    waits: scheduled ? maxWaits : 0,
  },
  traceparent,
});

const maxWaits = 8;
const firstWaitMs = 10_000;

/** Waits up to `waits` times for pending analyses of the period, each time twice as long. */
export async function makeSummary(
  tools: SummaryTools,
  job: JobPayloads['summaries.make'],
  traceparent: string | null,
) {
  const organization = await getOrganization(tools.db, job.org_id);
  const period = { start: new Date(job.period_start), end: new Date(job.period_end) };
  const countPending = () => countUnanalyzed(tools.db, job.org_id, { ...period, askedAt: null });
  if (job.waits > 0 && (await countPending()) > 0) {
    const payload = { ...job, waits: job.waits - 1 };
    const runAt = new Date(Date.now() + firstWaitMs * 2 ** (maxWaits - job.waits));
    return await enqueue(tools.db, [{ task: 'summaries.make', payload, runAt, traceparent }]);
  }
  const { actor, summary_id: id, scheduled } = job;
  await summarize(tools, { organization, period, scheduled, actor, id, traceparent });
}

export const reportType = 'executive-summary';
const quotesPerCategory = 1;
const maxQuote = 200;

/** Removes known people and possible names. Throws a refusal of kind `unavailable` when it takes too long. */
export type Redact = (
  text: string,
  known: { orgId: string; names: readonly string[]; emails: readonly string[]; language: string },
) => Promise<string>;

export type SummaryTools = { db: Db; log: Log; analyst: Analyst; redact: Redact };

type Organization = { id: string; name: string; time_zone: string; ai_enabled: boolean };
type SummaryRequest = {
  organization: Organization;
  period: SummaryPeriod;
  scheduled: boolean;
  actor: Actor;
  /** Makes a repeated job idempotent. */
  id?: string;
  traceparent?: string | null;
};

/** Returns undefined if a summary has this id, or the period already has a scheduled summary. */
export async function summarize(
  tools: SummaryTools,
  { organization, period, scheduled, actor, id, traceparent = null }: SummaryRequest,
): Promise<SummaryRow | undefined> {
  const orgId = organization.id;
  const { facts, previousNps } = await gather(tools, organization, period);
  const text = await writeText(tools, organization, facts);
  const summary = await inTransaction(tools.db, async (tx) => {
    const row = await insertSummary(tx, orgId, {
      id: id ?? randomUUID(),
      report_type: reportType,
      scheduled,
      period_start: period.start,
      period_end: period.end,
      nps: facts.blocks.find(isCustomersNps)?.score ?? null,
      previous_nps: previousNps,
      blocks: facts.blocks,
      responses: facts.responses.now,
      top_themes: facts.themes.map(({ theme }) => theme),
      text,
    });
    if (!row) return undefined;
    const { nps, top_themes: themes, created_at: at } = row;
    const event = summaryGenerated({ reportType, nps, themes, at });
    await emit(tx, { orgId, traceparent, events: [event] });
    const target = { kind: 'summary', id: row.id };
    const details = daysOf(period, organization.time_zone);
    await recordAct(tx, { orgId, actor, act: 'summary.created', target, details });
    return row;
  });
  if (summary) emitted.publish({ event: 'summary.generated' });
  return summary;
}

async function gather(tools: SummaryTools, organization: Organization, period: SummaryPeriod) {
  const { db } = tools;
  const { id, name, time_zone } = organization;
  const before = periodBefore(period, time_zone);
  const kinds = await countKinds(db, id, { before: before.start, ...period });
  const quotes = await listQuotes(db, id, period, quotesPerCategory);
  const customersNps = kinds.find(isCustomersNps);
  const total = (when: 'now' | 'earlier') =>
    kinds.reduce((sum, kind) => sum + kind[when].responses, 0);
  const longDay = new Intl.DateTimeFormat('en-GB', { timeZone: time_zone, dateStyle: 'long' });
  const facts: ReportFacts = {
    organization: name,
    period: { from: longDay.format(period.start), to: lastMoment(period.end, time_zone) },
    responses: { now: total('now'), before: total('earlier') },
    blocks: blocksOf(kinds),
    categories: customersNps?.now.responses ? tallyOf(customersNps.now) : null,
    themes: await countThemes(db, id, period, before),
    quotes: await Promise.all(
      quotes.map(async ({ comment, category, language, known_names, known_addresses }) => {
        const known = { orgId: id, names: known_names, emails: known_addresses, language };
        const text = (await tools.redact(comment, known)).replace(/\s+/g, ' ');
        return { category, text: tidyText(text, maxQuote) };
      }),
    ),
  };
  return { facts, previousNps: customersNps ? netPromoterScore(customersNps.earlier) : null };
}

const tallyOf = ({ promoters, passives, detractors }: Tally) => ({
  promoters,
  passives,
  detractors,
});

/** Falls back to the template if the analyst fails or invents a number. */
async function writeText(tools: SummaryTools, organization: Organization, facts: ReportFacts) {
  const { analyst, log } = tools;
  const template = writeReport(facts);
  if (!organization.ai_enabled) return template;
  const { organization: _, ...shown } = facts;
  const data = JSON.stringify(shown);
  const answer = await analyst.write(data);
  if (!answer.ok)
    log.warn({ why: answer.why }, 'the analyst did not write the report, using the template');
  if (!answer.ok || answer.value === null) return template;
  if (hasOnlyNumbersOf(answer.value, `${data} ${template}`)) return answer.value;
  log.warn('the report of the analyst contains invented numbers, using the template');
  return template;
}

/** Enqueues a job for each organization whose last month has no summary yet. */
export async function planMonths({ db }: { db: Db }, traceparent: string | null = null) {
  const options = { actor: jobActor('summaries.month'), scheduled: true, traceparent };
  const due = await listMonthsDue(db, reportType);
  const jobs = due.map(({ org_id, ...month }) => summaryJob(org_id, month, options));
  await enqueue(db, jobs);
}

/** Quotes are redacted. */
export type ReportFacts = {
  organization: string;
  period: { from: string; to: string };
  responses: { now: number; before: number };
  blocks: ScoreBlock[];
  /** Customer NPS only. */
  categories: Tally | null;
  themes: readonly ThemeCount[];
  quotes: readonly { category: Category; text: string }[];
};

export function writeReport(facts: ReportFacts): string {
  const paragraphs = [headline(facts), ...scores(facts), topThemes(facts), quotes(facts)];
  return paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
}

function headline({ organization, period, responses }: ReportFacts): string {
  const between = `From ${period.from} to ${period.to}`;
  if (responses.now === 0) return `${between}, ${organization} received no responses.`;
  const answers = `${organization} received ${count(responses.now, 'response')}`;
  return `${between}, ${answers}, ${volumeChange(responses.now, responses.before)}.`;
}

function volumeChange(now: number, before: number): string {
  if (before === 0) return 'with none in the previous period';
  if (now === before) return 'as many as in the previous period';
  const percent = Math.round((100 * Math.abs(now - before)) / before);
  return `${percent}% ${now > before ? 'more' : 'fewer'} than the ${before} of the previous period`;
}

const scores = ({ blocks, categories }: ReportFacts): string[] =>
  blocks.map((block) => {
    const sentence = blockSentence(block, blocks);
    return categories && isCustomersNps(block)
      ? `${sentence} ${sharesSentence(categories)}`
      : sentence;
  });

function topThemes({ themes }: ReportFacts): string {
  if (themes.length === 0) return '';
  const listed = themes.map(
    ({ theme, mentions, before }) => `${theme} (${mentions}, ${trend(mentions, before)})`,
  );
  return `Top themes: ${listed.join(', ')}.${detractorTheme(themes)}`;
}

const trend = (now: number, before: number) => {
  if (before === 0) return 'new';
  if (now === before) return 'unchanged';
  return `${now > before ? 'up' : 'down'} from ${before}`;
};

function detractorTheme(themes: readonly ThemeCount[]): string {
  const [worst] = [...themes].sort((one, other) => other.detractors - one.detractors);
  if (!worst || worst.detractors < 2) return '';
  return ` Detractors mention ${worst.theme} most (${worst.detractors} of ${worst.mentions} mentions): look there first.`;
}

function quotes({ quotes }: ReportFacts): string {
  const lines = quotes.map(({ category, text }) => `- “${text}” (${category})`);
  return lines.length === 0 ? '' : `In their words:\n${lines.join('\n')}`;
}

const count = (number: number, thing: string) => `${number} ${thing}${number === 1 ? '' : 's'}`;
/** A number that is not in the facts is invented. */
export function hasOnlyNumbersOf(text: string, facts: string): boolean {
  const counted = new Set(numbersIn(facts));
  return numbersIn(text).every((number) => counted.has(number));
}

const numbersIn = (text: string): string[] =>
  text.replace(/(?<=\d),(?=\d{3}(?!\d))/g, '').match(/\d+(?:\.\d+)?/g) ?? [];
