/** Half-open: includes `from`, excludes `to`. Null is unbounded. */
export type Range = { from: Date | null; to: Date | null };

/** The time span that a text covers. `day` is set for a bare date. */
export type Instants = { first: Date; end: Date; day?: string };

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;
/** An unescaped plus sign in a query arrives as a space. */
const timePattern =
  /^(\d{4}-\d{2}-\d{2}[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?)([Zz]|[+ -](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/;

/** Limits that Postgres and every client can represent. */
const earliest = Date.UTC(1000, 0, 1);
const latest = Date.UTC(9999, 0, 1);

/** Reads an ISO 8601 date as a whole UTC day, and a time as one millisecond, the precision of displayed times. */
export function readInstants(text: string): Instants | undefined {
  const isDay = dayPattern.test(text);
  const [, time, zone = 'Z'] = timePattern.exec(isDay ? `${text}T00:00` : text) ?? [];
  if (time === undefined) return undefined;
  try {
    const { epochMilliseconds: start } = Temporal.Instant.from(time + zone.replace(' ', '+'));
    return isDay ? { ...span(start, dayMs), day: text } : span(start, 1);
  } catch {
    return undefined; // the 30th of February, for example
  }
}

function span(start: number, length: number) {
  const within = (ms: number) => new Date(Math.min(Math.max(ms, earliest), latest));
  return { first: within(start), end: within(start + length) };
}

/** Bare dates begin at midnight in the zone. */
export const firstOf = ({ first, day }: Instants, timeZone: string): Date =>
  day === undefined ? first : startOfLocalDay(dayOf(first), timeZone);

export const endOf = ({ end, day }: Instants, timeZone: string): Date =>
  day === undefined ? end : startOfLocalDay(dayOf(end), timeZone);

const dayOf = (midnight: Date) => midnight.toISOString().slice(0, 10);

/** Takes the later midnight if it occurs twice, like Postgres. */
export function startOfLocalDay(day: string, timeZone: string): Date {
  const midnight = Temporal.PlainDate.from(day).toPlainDateTime();
  const { epochMilliseconds } = midnight.toZonedDateTime(timeZone, { disambiguation: 'later' });
  return new Date(epochMilliseconds);
}

export const localDay = (time: Date, timeZone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(time.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
    .toString();

export const addDays = (day: string, days: number): string =>
  sinceYearZero(Temporal.PlainDate.from(day).add({ days })).toString();

const firstOfAll = Temporal.PlainDate.from('0000-01-01');

/** ISO 8601 writes years before 0 with six digits, which dates in the API do not allow. */
export const sinceYearZero = (day: Temporal.PlainDate): Temporal.PlainDate =>
  Temporal.PlainDate.compare(day, firstOfAll) < 0 ? firstOfAll : day;

type Split = { hours: Range | null; edges: Range[] };

/** Splits a range into whole hours, which have stored tallies, and edges, whose rows must be counted. */
export function splitRange({ from, to }: Range): Split {
  const first = from && new Date(Math.ceil(from.getTime() / hourMs) * hourMs);
  const end = to && startOfHour(to);
  if (first && end && first >= end) return { hours: null, edges: [{ from, to }] };

  const edges: Range[] = [];
  if (from && first && from < first) edges.push({ from, to: first });
  if (to && end && end < to) edges.push({ from: end, to });
  return { hours: { from: first, to: end }, edges };
}

const startOfHour = (time: Date) => new Date(Math.floor(time.getTime() / hourMs) * hourMs);
