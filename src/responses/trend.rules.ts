import type { Instants } from './range.ts';
import { addDays, midnightsOf, startsOf, type TrendInterval } from './trend-days.ts';

export type TrendDates = {
  interval: TrendInterval;
  timeZone: string;
  from: Instants | null;
  to: Instants | null;
};

/** The rows of a trend as local days. An instant `from` or `to` takes the place of the first or last edge. */
export type TrendRows = {
  timeZone: string;
  /** The day that each row is named by: the first of its week or month. */
  starts: readonly string[];
  /** The day that each row counts from, and the day that the last counts up to: one more than there are rows. */
  edges: readonly string[];
  from: Date | null;
  to: Date | null;
};

/** What a trend without a beginning shows: this many days, its last included. */
const daysByDefault = 90;
export function trendRows({ interval, timeZone, from, to }: TrendDates, now: Date): TrendRows {
  const lastDay = to ? (to.day ?? localDay(to.first, timeZone)) : localDay(now, timeZone);
  const firstDay = from
    ? (from.day ?? localDay(from.first, timeZone))
    : addDays(lastDay, 1 - daysByDefault);

  const starts = startsOf({ interval, firstDay, lastDay });
  return {
    timeZone,
    starts,
    edges: [firstDay, ...starts.slice(1), addDays(lastDay, 1)],
    from: from && from.day === undefined ? from.first : null,
    to: to && to.day === undefined ? to.end : null,
  };
}

/** When rows begin and end, in milliseconds: the last never before the first. */
export function edgeTimes({ edges, starts, timeZone, from, to }: TrendRows): number[] {
  const times = [...midnightsOf({ days: edges, timeZone })];
  if (from) times[0] = from.getTime();
  if (starts.length > 0) {
    const last = to?.getTime() ?? times.at(-1)!;
    times[starts.length] = Math.max(last, from?.getTime() ?? last);
  }
  return times;
}

const mostZones = 500;

/** To make a formatter takes longer than all else of a trend. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known) return known;
  if (formatters.size >= mostZones) formatters.clear();
  const formatter = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  formatters.set(timeZone, formatter);
  return formatter;
}

function localDay(time: Date, timeZone: string): string {
  const parts = formatterOf(timeZone).formatToParts(time);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}
