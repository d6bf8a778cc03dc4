const hourMs = 60 * 60 * 1000;
/** A campaign that was late by more than this does not catch up: its mails stay spread evenly. */
const mostLagMs = 5000;

type Pace = { perHour: number | null; nextMailAt: Date | null; now: Date };

export type PacedMails = {
  /** How many mails may be claimed now. */
  mails: number;
  /** When the next one may be, once these are claimed. */
  nextMailAt: Date | null;
};

/** How many mails of at most so many the pace allows by now. Without a pace, all of them. */
export function pacedMails({ perHour, nextMailAt, now }: Pace, atMost: number): PacedMails {
  if (perHour === null) return { mails: atMost, nextMailAt: null };
  const everyMs = hourMs / perHour;
  const nowMs = now.getTime();
  const dueMs = Math.max(nextMailAt?.getTime() ?? nowMs, nowMs - mostLagMs);
  const due = dueMs > nowMs ? 0 : Math.floor((nowMs - dueMs) / everyMs) + 1;
  const mails = Math.min(due, atMost);
  return { mails, nextMailAt: new Date(dueMs + mails * everyMs) };
}
