// The days of a trend. To spell three years of them and to find their midnights takes as long as to count what came on
// them, and the same ones are asked for again and again.

import { Refusal } from '../errors.ts';
import { memoize } from '../lib/async/memoize.ts';
import { startOfLocalDay } from './local-day.ts';

export const trendIntervals = ['day', 'week', 'month'] as const;
export type TrendInterval = (typeof trendIntervals)[number];

/** Three years by day. */
const mostRows = 1_100;

const keptTrends = 50;

type DaysOfTrend = { interval: TrendInterval; firstDay: string; lastDay: string };

/** The day that each row is named by: the first of its week or month. */
export const startsOf = memoize(
  keptTrends,
  ({ interval, firstDay, lastDay }: DaysOfTrend): readonly string[] => {
    const starts: string[] = [];
    for (
      let day = startOf(interval, firstDay);
      day <= lastDay && firstDay <= lastDay;
      day = nextStart(interval, day)
    ) {
      if (starts.length === mostRows) throw tooManyRows();
      starts.push(day);
    }
    return starts;
  },
);

/** When days begin in a zone, in milliseconds. */
export const midnightsOf = memoize(
  keptTrends,
  ({ days, timeZone }: { days: readonly string[]; timeZone: string }): readonly number[] =>
    days.map((day) => startOfLocalDay(midnightOf(day), timeZone).getTime()),
);

/** Weeks begin on Monday. */
function startOf(interval: TrendInterval, day: string): string {
  if (interval === 'month') return `${day.slice(0, 8)}01`;
  if (interval === 'day') return day;
  return addDays(day, -((midnightOf(day).getUTCDay() + 6) % 7));
}

function nextStart(interval: TrendInterval, day: string): string {
  if (interval === 'day') return addDays(day, 1);
  if (interval === 'week') return addDays(day, 7);
  return startOf('month', addDays(day, 31));
}

const midnightOf = (day: string) => new Date(`${day}T00:00:00Z`);

export function addDays(day: string, days: number): string {
  const date = midnightOf(day);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

const tooManyRows = () =>
  new Refusal('invalid', `a trend has at most ${mostRows} rows: take a longer interval`, {
    code: 'too_many_rows',
  });
