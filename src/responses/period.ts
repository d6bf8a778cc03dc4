/** When what a text covers begins: a bare date does so with its day in the zone. */
export const firstOf = ({ first, day }: Instants, timeZone: string): Date =>
  day === undefined ? first : startOfLocalDay(first, timeZone);

/** When it ends. */
export const endOf = ({ end, day }: Instants, timeZone: string): Date =>
  day === undefined ? end : startOfLocalDay(end, timeZone);

const msPerDay = 86_400_000;

/**
 * When the day begins in a zone that begins at `midnight` by UTC. Where clocks change at midnight it is what Postgres
 * takes too: standard time, for a midnight that is there twice as for one that is not there.
 */
export function startOfLocalDay(midnight: Date, timeZone: string): Date {
  if (timeZone === 'UTC') return midnight;
  const clock = clockOf(timeZone);
  const time = midnight.getTime();
  const offsets = [
    offsetAtMidnight(clock, time - msPerDay),
    offsetAtMidnight(clock, time + msPerDay),
  ];
  if (offsets[0] === offsets[1]) return new Date(time - offsets[0]!);
  const fitting = offsets.filter((offset) => clock.offsetAt(time - offset) === offset);
  return new Date(time - Math.min(...(fitting.length > 0 ? fitting : offsets)));
}

/** How far the clocks of a zone are ahead of UTC, in milliseconds: at an instant, and at midnights that were asked for. */
type ZoneClock = { offsetAt: (time: number) => number; atMidnights: Map<number, number> };

const mostZones = 500;
/** More than two trends of three years have. */
const mostMidnights = 2_500;

/** To ask what a clock shows takes longer than all else of a trend. */
const clocks = new Map<string, ZoneClock>();

function clockOf(timeZone: string): ZoneClock {
  const known = clocks.get(timeZone);
  if (known) return known;
  if (clocks.size >= mostZones) clocks.clear();
  const clock = { offsetAt: offsetsOf(timeZone), atMidnights: new Map<number, number>() };
  clocks.set(timeZone, clock);
  return clock;
}

function offsetAtMidnight({ offsetAt, atMidnights }: ZoneClock, time: number): number {
  const known = atMidnights.get(time);
  if (known !== undefined) return known;
  if (atMidnights.size >= mostMidnights) atMidnights.clear();
  const offset = offsetAt(time);
  atMidnights.set(time, offset);
  return offset;
}

function offsetsOf(timeZone: string) {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (time: number) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, +value]));
    const [year, month, day] = [parts.get('year')!, parts.get('month')!, parts.get('day')!];
    const clock = [parts.get('hour')!, parts.get('minute')!, parts.get('second')!] as const;
    return Date.UTC(year, month - 1, day, ...clock) - Math.floor(time / 1000) * 1000;
  };
}

/** A stretch of time: from its first instant on, up to but without its last. Null has no end. */
export type Range = { from: Date | null; to: Date | null };

export type Instants = { first: Date; end: Date; day?: string };

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const date = String.raw`(?<date>\d{4}-\d{2}-\d{2})`;
const clock = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d)(?:[.,](?<fraction>\d{1,9}))?)?`;
// A plus sign that was not escaped in a query arrives as a space.
const offset = String.raw`(?<zone>[Zz]|(?<sign>[+ -])(?<hours>[01]\d|2[0-3])(?::?(?<minutes>[0-5]\d))?)?`;
const form = new RegExp(`^${date}(?:[Tt ]${clock}${offset})?$`);

/** Where Postgres and every client can still follow; beyond it nothing was ever answered. */
const earliest = Date.UTC(1000, 0, 1);
const latest = Date.UTC(9999, 0, 1);

/** The instants an ISO 8601 text covers: a whole UTC day, which is named then, or one millisecond, as times are shown. */
export function readInstants(text: string): Instants | undefined {
  const groups = form.exec(text)?.groups;
  if (!groups?.['date']) return undefined;
  const midnight = new Date(`${groups['date']}T00:00:00.000Z`);
  // The 30th of February would silently become a day in March.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(groups['date'])) {
    return undefined;
  }
  if (groups['hour'] === undefined) {
    return { ...span(midnight.getTime(), dayMs), day: groups['date'] };
  }
  return span(midnight.getTime() + clockMs(groups) - offsetMs(groups), 1);
}

function span(start: number, length: number) {
  const within = (ms: number) => new Date(Math.min(Math.max(ms, earliest), latest));
  return { first: within(start), end: within(start + length) };
}

type Groups = Readonly<Record<string, string | undefined>>;
const number = (text: string | undefined) => Number(text ?? 0);

function clockMs({ hour, minute, second, fraction = '' }: Groups): number {
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return ((number(hour) * 60 + number(minute)) * 60 + number(second)) * 1000 + ms;
}

/** Without an offset a time is UTC. */
function offsetMs({ sign, hours, minutes }: Groups): number {
  const ms = (number(hours) * 60 + number(minutes)) * 60_000;
  return sign === '-' ? -ms : ms;
}

type Split = {
  /** Whole hours; null is without an end on that side. */
  hours: Range | null;
  /** What is left of the range before and after them. */
  edges: Range[];
};

/** A range as the whole hours in it, whose totals are kept, and the rest, whose rows must be counted. */
export function splitRange({ from, to }: Range): Split {
  const first = from && new Date(Math.ceil(from.getTime() / hourMs) * hourMs);
  const end = to && startOfHour(to);
  if (first && end && first >= end) return { hours: null, edges: [{ from, to }] };

  const edges: Range[] = [];
  if (from && first && from < first) edges.push({ from, to: first });
  if (to && end && end < to) edges.push({ from: end, to });
  return { hours: { from: first, to: end }, edges };
}

export const startOfHour = (time: Date) => new Date(Math.floor(time.getTime() / hourMs) * hourMs);
