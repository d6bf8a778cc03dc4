import type { Sql } from '../lib/db/db.ts';
import { readJson } from '../lib/paging/paged-json.ts';
import { type HeldTally, type NpsRollup, rollUp } from './rules.ts';
import type { NpsScope } from './scope.cte.ts';
import { countCategories } from './totals.queries.ts';
import { countTrend } from './trend.queries.ts';
import { type TrendDates, type TrendRows, trendRows } from './trend.rules.ts';

/** The score of an organization's responses in scope, as the API answers it. */
export async function readNps(sql: Sql, orgId: string, scope: NpsScope): Promise<NpsRollup> {
  return rollUp(await readJson<HeldTally>(sql, countCategories(sql, orgId, scope)));
}

export type NpsTrendRow = { start: string } & NpsRollup;

/** The same for each day, week or month; those without responses too. */
export async function readTrend(
  sql: Sql,
  orgId: string,
  { scope, dates, now = new Date() }: { scope: NpsScope; dates: TrendDates; now?: Date },
): Promise<NpsTrendRow[]> {
  const rows = trendRows(dates, now);
  return trendOf(await readJson<HeldTally[]>(sql, countTrend(sql, orgId, { scope, rows })), rows);
}

export const trendOf = (counted: readonly HeldTally[], { starts }: TrendRows): NpsTrendRow[] =>
  starts.map((start, row) => ({ start, ...rollUp(counted[row]!) }));
