import type { Instants } from './range.ts';

/** When what a text covers begins: a bare date does so with its day in the zone. */
export const firstOf = ({ first, day }: Instants, timeZone: string): Date =>
  day === undefined ? first : startOfLocalDay(first, timeZone);

/** When it ends. */
export const endOf = ({ end, day }: Instants, timeZone: string): Date =>
  day === undefined ? end : startOfLocalDay(end, timeZone);

const dayMs = 86_400_000;

/**
 * When the day begins in a zone that begins at `midnight` by UTC. Where clocks change at midnight it is what Postgres
 * takes too: standard time, for a midnight that is there twice as for one that is not there.
 */
export function startOfLocalDay(midnight: Date, timeZone: string): Date {
  if (timeZone === 'UTC') return midnight;
  const clock = clockOf(timeZone);
  const time = midnight.getTime();
  const offsets = [offsetAtMidnight(clock, time - dayMs), offsetAtMidnight(clock, time + dayMs)];
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
