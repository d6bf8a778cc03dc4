import { rollUp } from '../responses/rules.ts';
import { averageScore, percentage, type SurveyType, scaleOf, type Tally } from '../scores.ts';

/** How a scale is summed up: the NPS, the share of the best scores, or the mean. */
export type MeasureKind = 'nps' | 'share' | 'mean';

export const measureKinds = {
  nps: 'nps',
  csat: 'share',
  thumbs: 'share',
  ces: 'mean',
  star5: 'mean',
} as const satisfies Record<SurveyType, MeasureKind>;

/** What is counted of the responses in a period; the sum of their scores where the mean needs it. */
export type Counted = Tally & { scoreSum: number };

export type Measured = {
  total: number;
  value: number | null;
  /** Half of the 95 % interval, in the unit of the value. */
  margin: number | null;
};

const deviationsOf95Percent = 1.96;

/** The one number of a scale. `variance` is that of the scores, which only the mean needs. */
export function measure(type: SurveyType, counted: Counted, variance: number | null): Measured {
  const kind: MeasureKind = measureKinds[type];
  const { nps, margin_of_error, total } = rollUp({ ...counted, held: 0 });
  if (kind === 'nps') return { total, value: nps, margin: margin_of_error };
  if (total === 0) return { total, value: null, margin: null };
  if (kind === 'mean') {
    const margin = variance === null || total < 2 ? null : marginOf(variance / total, 100);
    return { total, value: averageScore(counted.scoreSum, total), margin };
  }
  const share = counted.promoters / total;
  const margin = total < 2 ? null : marginOf((share * (1 - share)) / total, 10, 100);
  return { total, value: percentage(counted.promoters, total), margin };
}

const marginOf = (variance: number, decimals: number, unit = 1) =>
  Math.round(decimals * unit * deviationsOf95Percent * Math.sqrt(variance)) / decimals;

export function boundsOf(type: SurveyType) {
  const kind: MeasureKind = measureKinds[type];
  if (kind === 'nps') return { lowest: -100, highest: 100 };
  return kind === 'share' ? { lowest: 0, highest: 100 } : scaleOf(type);
}

export type Change = {
  by: number;
  /** Half of the 95 % interval of the change itself. */
  margin: number;
  meaning: 'none' | 'chance' | 'few' | 'better' | 'worse';
};

/** Fewer responses than this, now or before, call nothing a change. */
const fewResponses = 30;

/** What became of a number, and whether that may be chance. Higher is better on all scales. */
export function compare(type: SurveyType, now: Measured, before: Measured): Change | null {
  const decimals = measureKinds[type] === 'mean' ? 100 : 10;
  if (now.value === null || before.value === null) return null;
  const by = Math.round((now.value - before.value) * decimals) / decimals;
  if (now.margin === null || before.margin === null) return { by, margin: 0, meaning: 'few' };
  const margin = Math.round(Math.hypot(now.margin, before.margin) * decimals) / decimals;
  if (Math.min(now.total, before.total) < fewResponses) return { by, margin, meaning: 'few' };
  if (by === 0) return { by, margin, meaning: 'none' };
  if (Math.abs(by) <= margin) return { by, margin, meaning: 'chance' };
  return { by, margin, meaning: by > 0 ? 'better' : 'worse' };
}

/** The sum of what several steps have counted. */
export const sumOf = (counted: readonly Counted[]): Counted =>
  counted.reduce(
    (sum, each) => ({
      promoters: sum.promoters + each.promoters,
      passives: sum.passives + each.passives,
      detractors: sum.detractors + each.detractors,
      scoreSum: sum.scoreSum + each.scoreSum,
    }),
    { promoters: 0, passives: 0, detractors: 0, scoreSum: 0 },
  );
