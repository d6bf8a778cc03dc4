import { startOfLocalDay } from '../../responses/local-day.ts';

type Period = { period_start: Date | string; period_end: Date | string };

/** A period by its first and last day, in the organization's time zone: `October 2026`, `1 to 14 October 2026`. */
export function periodText({ period_start, period_end }: Period, timeZone: string): string {
  const form = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone });
  const [first, last] = [new Date(period_start), new Date(new Date(period_end).getTime() - 1)];
  if (isWholeMonth({ first, end: new Date(period_end) }, timeZone)) {
    return new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone }).format(
      first,
    );
  }
  const [from, to] = [form.format(first), form.format(last)];
  return from === to ? from : `${from} to ${to}`;
}

/** The responses of a period, as filters of their list: by whole days wherever it has these. */
export function periodFilters({ period_start, period_end }: Period, timeZone: string) {
  const [first, end] = [new Date(period_start), new Date(period_end)];
  const last = new Date(end.getTime() - 1);
  const day = new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone });
  const isMidnight = (at: Date) =>
    startOfLocalDay(new Date(`${day.format(at)}T00:00:00Z`), timeZone).getTime() === at.getTime();
  const hasWholeDays = isMidnight(first) && isMidnight(end);
  const text = (at: Date) => (hasWholeDays ? day.format(at) : at.toISOString());
  return new URLSearchParams({ date_from: text(first), date_to: text(last) });
}

function isWholeMonth({ first, end }: { first: Date; end: Date }, timeZone: string): boolean {
  const form = new Intl.DateTimeFormat('en-CA', {
    ...({ year: 'numeric', month: '2-digit', day: '2-digit' } as const),
    ...({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone } as const),
  });
  const parts = (at: Date) =>
    Object.fromEntries(form.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const [from, to] = [parts(first), parts(end)];
  const atMidnight = [from, to].every(
    (at) => at['day'] === 1 && at['hour'] === 0 && at['minute'] === 0,
  );
  const months = (to['year']! - from['year']!) * 12 + to['month']! - from['month']!;
  return atMidnight && months === 1;
}
