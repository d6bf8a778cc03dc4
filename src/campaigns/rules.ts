import type { SendWindow } from '../surveys/schemas.ts';

const hourMs = 60 * 60 * 1000;
/** A campaign that falls further behind than this does not catch up, so that its mails stay spread evenly. */
const maxLagMs = 5000;

type Pace = { perHour: number | null; nextMailAt: Date | null; now: Date };

export type Pacing = {
  mails: number;
  nextMailAt: Date | null;
};

export function pacedMails({ perHour, nextMailAt, now }: Pace, atMost: number): Pacing {
  if (perHour === null) return { mails: atMost, nextMailAt: null };
  const everyMs = hourMs / perHour;
  const nowMs = now.getTime();
  const dueMs = Math.max(nextMailAt?.getTime() ?? nowMs, nowMs - maxLagMs);
  const due = dueMs > nowMs ? 0 : Math.floor((nowMs - dueMs) / everyMs) + 1;
  const mails = Math.min(due, atMost);
  return { mails, nextMailAt: new Date(dueMs + mails * everyMs) };
}

export const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const daysOfWeek = 7;

/** Returns `now` if the window is open. Its hours are local times of its time zone. */
export function nextOpening(window: SendWindow | null, now: Date): Date {
  if (!window) return now;
  const instant = Temporal.Instant.fromEpochMilliseconds(now.getTime());
  const today = instant.toZonedDateTimeISO(window.time_zone).toPlainDate();
  // Includes the same weekday of next week, because today's window may be over.
  for (let days = 0; days <= daysOfWeek; days++) {
    const day = today.add({ days });
    if (!window.days.includes(dayNames[day.dayOfWeek - 1]!)) continue;
    const [opens, closes] = [momentOf(window, day, 'from'), momentOf(window, day, 'to')];
    if (closes > now.getTime()) return new Date(Math.max(opens, now.getTime()));
  }
  return now;
}

/** A time that daylight saving skips moves forward by the gap. An ambiguous time means the earlier moment. */
function momentOf(window: SendWindow, day: Temporal.PlainDate, end: 'from' | 'to'): number {
  const plainTime = Temporal.PlainTime.from(window[end]);
  return day.toZonedDateTime({ timeZone: window.time_zone, plainTime }).epochMilliseconds;
}
