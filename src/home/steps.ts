import { startOf, type TrendInterval } from '../responses/trend.ts';
import { type Counted, totalOf } from '../survey-types.ts';
import { type HomePeriod, sumOf } from './rules.ts';

/** `start` is the first day. A moving step also has the responses of its own days. */
export type Step = { start: string; own?: Counted } & Counted;

/** A number is the score of so many days up to and including `start`. */
export type StepKind = TrendInterval | MovingDays;
type MovingDays = 30 | 90;

const minMedian = 10;

/** Checks the median of steps with responses, because scores of few responses jump. */
export function hasEnough(steps: readonly Step[]): boolean {
  const totals = steps.map(totalOf).filter((total) => total > 0);
  const median = totals.sort((one, other) => one - other)[Math.floor((totals.length - 1) / 2)];
  return (median ?? 0) >= minMedian;
}

/** A long period has few steps, so each one counts more days. Otherwise the line of a few responses a week jumps. */
export const movingDaysOf = ({ interval }: Pick<HomePeriod, 'interval'>): MovingDays =>
  interval === 'month' ? 90 : 30;

/** Scores of the last 30 or 90 days. `days` begin that many days, less one, before the period. */
export function movingSteps(days: readonly Step[], period: Pick<HomePeriod, 'interval'>) {
  const movingDays = movingDaysOf(period);
  const shown = days.slice(movingDays - 1);
  const groups = groupDays(shown, period.interval);
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
