import type { SendWindow } from '../surveys/schemas.ts';

const hourMs = 60 * 60 * 1000;
/** A campaign that was late by more than this does not catch up: its mails stay spread evenly. */
const maxLagMs = 5000;

type Pace = { perHour: number | null; nextMailAt: Date | null; now: Date };

export type PacedMails = {
  mails: number;
  nextMailAt: Date | null;
};

/** How many mails of at most so many the pace allows by now. Without a pace, all of them. */
export function pacedMails({ perHour, nextMailAt, now }: Pace, atMost: number): PacedMails {
  if (perHour === null) return { mails: atMost, nextMailAt: null };
  const everyMs = hourMs / perHour;
  const nowMs = now.getTime();
  const dueMs = Math.max(nextMailAt?.getTime() ?? nowMs, nowMs - maxLagMs);
  const due = dueMs > nowMs ? 0 : Math.floor((nowMs - dueMs) / everyMs) + 1;
  const mails = Math.min(due, atMost);
  return { mails, nextMailAt: new Date(dueMs + mails * everyMs) };
}

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const daysOfWeek = 7;

/**
 * The first moment from now on at which the window is open: now, if it is. Its hours are those of the wall clock in its
 * zone, whatever summer time does to them.
 */
export function nextOpening(window: SendWindow | null, now: Date): Date {
  if (!window) return now;
  const instant = Temporal.Instant.fromEpochMilliseconds(now.getTime());
  const today = instant.toZonedDateTimeISO(window.time_zone).toPlainDate();
  // A week on it opens again on the day on which it has closed today.
  for (let days = 0; days <= daysOfWeek; days++) {
    const day = today.add({ days });
    if (!window.days.includes(dayNames[day.dayOfWeek - 1]!)) continue;
    const [opens, closes] = [momentOf(window, day, 'from'), momentOf(window, day, 'to')];
    if (closes > now.getTime()) return new Date(Math.max(opens, now.getTime()));
  }
  return now;
}

/** A time that summer time skips is as much later; of a time that comes twice, the first. */
function momentOf(window: SendWindow, day: Temporal.PlainDate, end: 'from' | 'to'): number {
  const plainTime = Temporal.PlainTime.from(window[end]);
  return day.toZonedDateTime({ timeZone: window.time_zone, plainTime }).epochMilliseconds;
}
