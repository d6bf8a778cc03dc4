import { startOf, type TrendInterval } from '../responses/trend.ts';
import { type Counted, totalOf } from '../survey-types.ts';
import { daysByDay, type HomePeriod, sumOf } from './rules.ts';

/** `start` is the first day. A moving step also has the responses of its own days. */
export type Step = { start: string; own?: Counted } & Counted;

/** `moving` is the score of the 30 days up to and including `start`. */
export type StepKind = TrendInterval | 'moving';

const minMedian = 10;
export const movingDays = 30;

/** Checks the median of steps with responses, because scores of few responses jump. */
export function hasEnough(steps: readonly Step[]): boolean {
  const totals = steps.map(totalOf).filter((total) => total > 0);
  const median = totals.sort((one, other) => one - other)[Math.floor((totals.length - 1) / 2)];
  return (median ?? 0) >= minMedian;
}

/** 30-day scores by day or week. `days` are the 29 days before the period, then the days of the period. */
export function movingSteps(days: readonly Step[], { days: length }: Pick<HomePeriod, 'days'>) {
  const shown = days.slice(movingDays - 1);
  const groups = groupDays(shown, length > daysByDay ? 'week' : 'day');
  return groups.map(([, group]): Step => {
    const last = days.indexOf(group.at(-1)!);
    return {
      start: days[last]!.start,
      own: sumOf(group),
      ...sumOf(days.slice(last + 1 - movingDays, last + 1)),
    };
  });
}

const groupDays = (days: readonly Step[], by: TrendInterval) => [
  ...Map.groupBy(days, ({ start }) => startOf(by, Temporal.PlainDate.from(start)).toString()),
];
