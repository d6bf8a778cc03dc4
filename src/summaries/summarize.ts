import { randomUUID } from 'node:crypto';
import { type Actor, jobActor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { enqueue } from '../jobs.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { Log } from '../lib/log/log.ts';
import { netPromoterScore } from '../scores.ts';
import { emitted } from '../signals.ts';
import { emit } from '../webhooks/emit.cte.ts';
import { summaryGenerated } from '../webhooks/events.ts';
import type { Analyst } from './analyst.ts';
import {
  findMonthDue,
  listMonthsDue,
  type SummaryPeriod,
  startOfPeriodBefore,
} from './period.queries.ts';
import { countUnanalyzed } from './queries.ts';
import { hasOnlyNumbersOf, type ReportFacts, writeReport } from './report.ts';
import { daysOf, monthWaitMs, tidyText } from './rules.ts';
import {
  countPeriod,
  countThemes,
  insertSummary,
  listQuotes,
  type SummaryRow,
} from './summary.queries.ts';

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
