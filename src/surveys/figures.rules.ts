import {
  averageScore,
  categoryOf,
  marginOfError,
  netPromoterScore,
  percentage,
  type SurveyType,
  scaleOf,
  signedNps,
  type Tally,
} from '../scores.ts';
import type { ScoreCount } from './screen.queries.ts';

/** The one number of a survey, in the way of its scale. */
export type SurveyFigure = {
  /** What the number is, as a heading. */
  title: string;
  /** Null without answers. */
  value: string | null;
  /** How sure it is, when that is known: `± 7.2`. */
  margin: string | null;
};

const titles = {
  nps: 'Net Promoter Score',
  csat: 'Satisfied, 4 or 5',
  ces: 'Mean effort score, of 7',
  star5: 'Mean of 5 stars',
  thumbs: 'Thumbs up',
} as const satisfies Record<SurveyType, string>;

export const titleOfFigure = (type: SurveyType) => titles[type];

type Totals = Tally & { score_sum: number };

/** The number alone, from kept totals. */
export function figureOf(type: SurveyType, totals: Totals): string | null {
  const total = totals.promoters + totals.passives + totals.detractors;
  if (total === 0) return null;
  if (type === 'nps') return signedNps(netPromoterScore(totals)!);
  if (type === 'csat' || type === 'thumbs') return `${percentage(totals.promoters, total)}%`;
  return averageScore(totals.score_sum, total)!.toFixed(2);
}

/** The number with its margin, from how often each score was given. */
export function figureOfScores(type: SurveyType, scores: readonly ScoreCount[]): SurveyFigure {
  const totals = totalsOf(type, scores);
  return {
    title: titleOfFigure(type),
    value: figureOf(type, totals),
    margin: marginOf(type, scores),
  };
}

export function totalsOf(type: SurveyType, scores: readonly ScoreCount[]): Totals {
  const totals = { promoters: 0, passives: 0, detractors: 0, score_sum: 0 };
  for (const { score, count } of scores) {
    totals[`${categoryOf(type, score)}s`] += count;
    totals.score_sum += score * count;
  }
  return totals;
}

/** Half of the 95 % interval, as Home has it. A share is a score without detractors; a mean has the spread of its scores. */
function marginOf(type: SurveyType, scores: readonly ScoreCount[]): string | null {
  const totals = totalsOf(type, scores);
  if (type === 'ces' || type === 'star5') return marginOfMean(scores, totals);
  const rest = totals.passives + totals.detractors;
  const counted = type === 'nps' ? totals : { ...totals, passives: rest, detractors: 0 };
  const margin = marginOfError(counted);
  if (margin === null) return null;
  return type === 'nps' ? `± ${margin}` : `± ${margin}%`;
}

function marginOfMean(scores: readonly ScoreCount[], { score_sum }: Totals): string | null {
  const total = scores.reduce((sum, { count }) => sum + count, 0);
  if (total < 2) return null;
  const mean = score_sum / total;
  const squares = scores.reduce((sum, { score, count }) => sum + count * (score - mean) ** 2, 0);
  return `± ${(1.96 * Math.sqrt(squares / (total - 1) / total)).toFixed(2)}`;
}

/** Every score of the scale, the highest first, with how often it was given. */
export function distribution(type: SurveyType, scores: readonly ScoreCount[]) {
  const { lowest, highest } = scaleOf(type);
  const counts = new Map(scores.map(({ score, count }) => [score, count]));
  const total = scores.reduce((sum, { count }) => sum + count, 0);
  return Array.from({ length: highest - lowest + 1 }, (_, step) => {
    const score = highest - step;
    const count = counts.get(score) ?? 0;
    const share = percentage(count, total);
    return { score, count, share, category: categoryOf(type, score) };
  });
}
