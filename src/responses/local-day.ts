import type { Instants } from './range.ts';

/** When what a text covers begins: a bare date does so with its day in the zone. */
export const firstOf = ({ first, day }: Instants, timeZone: string): Date =>
  day === undefined || timeZone === 'UTC' ? first : startOfLocalDay(first, timeZone);

/** When it ends. */
export const endOf = ({ end, day }: Instants, timeZone: string): Date =>
  day === undefined || timeZone === 'UTC' ? end : startOfLocalDay(end, timeZone);

const dayMs = 86_400_000;

/**
 * When the day begins in a zone that begins at `midnight` by UTC. Where clocks change at midnight it is what Postgres
 * takes too: standard time, for a midnight that is there twice as for one that is not there.
 */
function startOfLocalDay(midnight: Date, timeZone: string): Date {
  const offsetAt = offsetsOf(timeZone);
  const time = midnight.getTime();
  const offsets = [offsetAt(time - dayMs), offsetAt(time + dayMs)];
  const fitting = offsets.filter((offset) => offsetAt(time - offset) === offset);
  return new Date(time - Math.min(...(fitting.length > 0 ? fitting : offsets)));
}

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
function offsetsOf(timeZone: string) {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, calendar: 'iso8601', hourCycle: 'h23' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return (time: number) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, +value]));
    const [year, month, day] = [parts.get('year')!, parts.get('month')!, parts.get('day')!];
    const clock = [parts.get('hour')!, parts.get('minute')!, parts.get('second')!] as const;
    return Date.UTC(year, month - 1, day, ...clock) - Math.floor(time / 1000) * 1000;
  };
}
