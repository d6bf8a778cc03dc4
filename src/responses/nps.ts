import { one, type Part, type Sql } from '../lib/db/db.ts';
import { type HeldTally, type NpsRollup, rollUp } from './rules.ts';
import { countCategories, type NpsScope } from './totals.queries.ts';
import { countTrend } from './trend.queries.ts';
import { type TrendDates, type TrendRows, trendRows } from './trend.rules.ts';

/** The score of an organization's responses in scope, as the API answers it. */
export async function readNps(sql: Sql, orgId: string, scope: NpsScope): Promise<NpsRollup> {
  return npsOf(await readText(sql, countCategories(sql, orgId, scope)));
}

export const npsOf = (tally: string): NpsRollup => rollUp(JSON.parse(tally) as HeldTally);

export type NpsTrendRow = { start: string } & NpsRollup;

/** The same for each day, week or month; those without responses too. */
export async function readTrend(
  sql: Sql,
  orgId: string,
  { scope, dates, now = new Date() }: { scope: NpsScope; dates: TrendDates; now?: Date },
): Promise<NpsTrendRow[]> {
  const rows = trendRows(dates, now);
  return trendOf(await readText(sql, countTrend(sql, orgId, { scope, rows })), rows);
}

export function trendOf(tallies: string, { starts }: TrendRows): NpsTrendRow[] {
  const counted = JSON.parse(tallies) as HeldTally[];
  return starts.map((start, row) => ({ start, ...rollUp(counted[row]!) }));
}

async function readText(sql: Sql, part: Part): Promise<string> {
  return one(await sql<{ text: string }[]>`select ${part} as text`).text;
}
