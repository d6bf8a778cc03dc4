import type { Db, Sql } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import { netPromoterScore } from '../scores.ts';
import { emit } from '../webhooks/emit.ts';
import { summaryGenerated } from '../webhooks/events.ts';
import type { Analyst } from './analyst.ts';
import { type Facts, writeReport } from './report.ts';
import { tidyText } from './rules.ts';
import {
  countPeriod,
  countThemes,
  insertSummary,
  listMonthsDue,
  listQuotes,
  type Period,
  type SummaryRow,
} from './summary.queries.ts';

export const reportType = 'executive-summary';
const quotesPerCategory = 1;
const longestQuote = 200;

/** Takes out of a text whoever is known, and whoever seems to be named. */
export type Redact = (
  text: string,
  known: { names: readonly string[]; emails: readonly string[] },
) => Promise<string>;

export type SummaryTools = {
  db: Db;
  log: Log;
  analyst: Analyst;
  redact: Redact;
  pump: () => void;
};

type Organization = { id: string; name: string; time_zone: string };
type Wish = { organization: Organization; period: Period; scheduled: boolean };

/**
 * Writes the summary of a period, keeps it, and tells it to subscribers in the same transaction. Gives
 * nothing back when a scheduled one is there already: another process was quicker.
 */
export async function summarize(tools: SummaryTools, wish: Wish): Promise<SummaryRow | undefined> {
  const { organization, period, scheduled } = wish;
  const facts = await gather(tools, organization, period);
  const text = await words(tools, facts);
  const themes = facts.themes.map(({ theme }) => theme);
  const nps = netPromoterScore(facts.now);

  const summary = await tools.db.begin(async (tx) => {
    const kept = await insertSummary(tx, organization.id, {
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
    if (kept) await tell(tx, organization.id, kept);
    return kept;
  });
  tools.pump();
  return summary;
}

async function tell(tx: Sql, orgId: string, { nps, top_themes, created_at }: SummaryRow) {
  const event = summaryGenerated({ reportType, nps, themes: top_themes, at: created_at });
  await emit(tx, { orgId, events: [event] });
}

async function gather(tools: SummaryTools, { id, name, time_zone }: Organization, period: Period) {
  const { db } = tools;
  const before = periodBefore(period);
  const quotes = await listQuotes(db, id, period, quotesPerCategory);
  const facts: Facts = {
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
        const known = { names: known_names, emails: known_addresses };
        const text = (await tools.redact(comment, known)).replace(/\s+/g, ' ');
        return { category, text: tidyText(text, longestQuote) };
      }),
    ),
  };
  return facts;
}

/** The analyst's words; where it has none, or fails, the template's. */
async function words({ analyst, log }: SummaryTools, facts: Facts): Promise<string> {
  const answer = await analyst.write(JSON.stringify(facts));
  if (!answer.ok) log.warn({ why: answer.why }, 'the report is written from the template');
  return (answer.ok && answer.value) || writeReport(facts);
}

/** As long as the period, just before it. */
const periodBefore = ({ start, end }: Period): Period => ({
  start: new Date(2 * start.getTime() - end.getTime()),
  end: start,
});

const dayIn = (timeZone: string, moment: Date) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'long' }).format(moment);

/** The scheduled task: a summary of the last month for each organization whose month is over. */
export async function summarizeMonths(tools: SummaryTools) {
  for (const { start, end, ...organization } of await listMonthsDue(tools.db, reportType)) {
    await summarize(tools, { organization, period: { start, end }, scheduled: true });
  }
}
