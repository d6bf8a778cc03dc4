import type { Repeat, SendWindow } from '../surveys/schemas.ts';
import { dayNames } from './rules.ts';

const daysOfWeek = 7;

/** Open days of the week, Monday first. */
export const openDays = (window: SendWindow | null): boolean[] =>
  dayNames.map((name) => window === null || window.days.includes(name));

/**
 * Tables by weekday, Monday first, from which SQL computes the day of a round:
 * - `next`: days from the weekday to each open day within a week, including the weekday itself
 * - `rest`: the number of open days in the last, incomplete week of a cycle
 * - `shifted`: days by which a round that falls on the weekday moves, 0 on open days
 */
export function cycleTables(open: readonly boolean[], everyDays: number) {
  const isOpen = (day: number) => open[day % daysOfWeek]!;
  const next = open.map((_, day) => ahead.filter((days) => isOpen(day + days)));
  const beyond = everyDays % daysOfWeek;
  const rest = open.map(
    (_, day) => ahead.slice(0, beyond).filter((days) => isOpen(day + days)).length,
  );
  return { next, rest, shifted: shiftsOf(open, beyond) };
}

const ahead = Array.from({ length: daysOfWeek }, (_, day) => day);

/**
 * A cycle moves every weekday by `beyond` days. A day that lands on a closed weekday takes the next open day that no
 * other day lands on, so that an even distribution stays even.
 */
function shiftsOf(open: readonly boolean[], beyond: number): number[] {
  const came = (day: number) => open[(day + daysOfWeek - beyond) % daysOfWeek]!;
  const free = new Set(ahead.filter((day) => open[day] && !came(day)));
  return ahead.map((day) => {
    if (open[day]) return 0;
    const nextOpen = ahead.find((days) => open[(day + days) % daysOfWeek])!;
    if (!came(day)) return nextOpen;
    const days = ahead.find((each) => free.has((day + each) % daysOfWeek)) ?? nextOpen;
    free.delete((day + days) % daysOfWeek);
    return days;
  });
}

/** Maximum number of contacts per day. Twice the average leaves room to catch up on missed days. */
export function maxPerDay(
  { per_day, spread, every_days }: Repeat,
  open: readonly boolean[],
  people: number,
) {
  if (per_day !== null) return per_day;
  if (!spread) return null;
  const openDaysOfCycle = Math.max((every_days * open.filter(Boolean).length) / daysOfWeek, 1);
  return 2 * Math.ceil(people / openDaysOfCycle);
}

export type ScheduledDay = { date: string; count: number };

type DayRules = {
  /** 0 on closed days and null without a limit. */
  capacityOf: (date: string, place: number) => number | null;
  /** Days after which contacts asked on a date are due again. */
  daysToNext: (date: string) => number;
};

/** Moves contacts above a day's capacity to the next day. Contacts that are asked become due again. */
export function fitDays(
  due: readonly ScheduledDay[],
  { capacityOf, daysToNext }: DayRules,
): ScheduledDay[] {
  const dueAgain = due.map(() => 0);
  let waiting = 0;
  return due.map(({ date, count }, place) => {
    waiting += count + dueAgain[place]!;
    const asked = Math.min(waiting, capacityOf(date, place) ?? waiting);
    waiting -= asked;
    const next = place + daysToNext(date);
    if (next < due.length) dueAgain[next]! += asked;
    return { date, count: asked };
  });
}
