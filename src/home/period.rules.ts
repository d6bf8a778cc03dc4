import { isInCalendar } from '../lib/validation/calendar.ts';
import type { TrendInterval } from '../responses/trend-days.ts';

/** The periods to choose from, in days; the API knows them by their dates. */
export const periodDays = { '7d': 7, '30d': 30, '90d': 90, '365d': 365 } as const;
export type PeriodName = keyof typeof periodDays;

/** Whole days, both included, in the organization's time zone. */
export type HomePeriod = {
  name: PeriodName | 'custom';
  from: string;
  to: string;
  days: number;
  /** As many days up to the day before. */
  before: { from: string; to: string };
  interval: TrendInterval;
};

export type AskedPeriod = {
  period?: string | undefined;
  date_from?: string | undefined;
  date_to?: string | undefined;
};

/** Dates win over a period; without either it is the usual one. What cannot be read is a mistake at its field. */
export function choosePeriod(asked: AskedPeriod, today: string): HomePeriod | PeriodMistakes {
  const { period = usual, date_from, date_to } = asked;
  if (date_from || date_to) return customPeriod(date_from ?? '', date_to || today);
  const name = Object.hasOwn(periodDays, period) ? (period as PeriodName) : usual;
  return periodOf(name, addDays(today, 1 - periodDays[name]), today);
}

const usual = '90d';
export const mostDays = 1_095;

export type PeriodMistakes = { errors: Record<string, string> };

function customPeriod(from: string, to: string): HomePeriod | PeriodMistakes {
  if (!isDay(from)) return { errors: { date_from: 'Enter a day, such as 2026-04-01.' } };
  if (!isDay(to)) return { errors: { date_to: 'Enter a day, such as 2026-04-01.' } };
  if (to < from) return { errors: { date_to: 'This day is before the first one.' } };
  const period = periodOf('custom', from, to);
  return period.days > mostDays
    ? { errors: { date_from: 'A period has three years at most.' } }
    : period;
}

function periodOf(name: HomePeriod['name'], from: string, to: string): HomePeriod {
  const days = daysBetween(from, to) + 1;
  const before = { from: addDays(from, -days), to: addDays(from, -1) };
  return { name, from, to, days, before, interval: intervalFor(days) };
}

/** About a dozen steps, up to thirty. */
function intervalFor(days: number): TrendInterval {
  if (days <= 31) return 'day';
  return days <= 200 ? 'week' : 'month';
}

const earliest = '1990-01-01';

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < earliest || text > '2999') return false;
  return isInCalendar(text);
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

const daysBetween = (from: string, to: string) =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs);

const dayMs = 86_400_000;
