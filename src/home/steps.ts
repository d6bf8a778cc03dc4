import { startOf, type TrendInterval, trendIntervals } from '../responses/trend.ts';
import { type Counted, totalOf } from '../survey-types.ts';
import { daysByDay, type HomePeriod, sumOf } from './rules.ts';

/** A day, a week or a month of a trend, named by its first day. */
export type Step = { start: string } & Counted;

/** `moving` is the score of the 30 days up to a day, which names the step. */
export type StepKind = TrendInterval | 'moving';

const minMedian = 10;
const minSteps = 3;
export const movingDays = 30;

/** A score of fewer responses jumps with each of them. Steps without any are not drawn. */
export function hasEnough(steps: readonly Step[]): boolean {
  const totals = steps.map(totalOf).filter((total) => total > 0);
  const median = totals.sort((one, other) => one - other)[Math.floor((totals.length - 1) / 2)];
  return (median ?? 0) >= minMedian;
}

/** Steps longer than those of the period, from its days and the 29 days before it. */
export function longerSteps(
  days: readonly Step[],
  { interval, days: length }: Pick<HomePeriod, 'interval' | 'days'>,
): { by: StepKind; steps: Step[] } {
  const shown = days.slice(movingDays - 1);
  for (const by of trendIntervals.slice(trendIntervals.indexOf(interval) + 1)) {
    const steps = groupDays(shown, by).map(([start, group]) => ({ start, ...sumOf(group) }));
    if (steps.length >= minSteps && hasEnough(steps)) return { by, steps };
  }
  const lastDays = groupDays(shown, length > daysByDay ? 'week' : 'day').map(([, group]) =>
    days.indexOf(group.at(-1)!),
  );
  const steps = lastDays.map((last) => ({
    start: days[last]!.start,
    ...sumOf(days.slice(last + 1 - movingDays, last + 1)),
  }));
  return { by: 'moving', steps };
}

const groupDays = (days: readonly Step[], by: TrendInterval) => [
  ...Map.groupBy(days, ({ start }) => startOf(by, Temporal.PlainDate.from(start)).toString()),
];
