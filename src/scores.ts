/** Words about scores that every room shares. Pure. */

export const surveyTypes = ['nps', 'csat', 'ces', 'star5', 'thumbs'] as const;

export type SurveyType = (typeof surveyTypes)[number];

export const scaleNames = {
  nps: 'Recommendation, 0 to 10 (NPS)',
  csat: 'Satisfaction, 1 to 5 (CSAT)',
  ces: 'Effort, 1 to 7 (CES)',
  star5: 'Stars, 1 to 5',
  thumbs: 'Thumbs up or down',
} satisfies Record<SurveyType, string>;

export const categories = ['promoter', 'passive', 'detractor'] as const;

export type Category = (typeof categories)[number];

/** The whole scores from `lowest` to `highest` that a type of survey takes. */
export type Scale = { lowest: number; highest: number };

/** How many answers fell into each category. */
export type Tally = { promoters: number; passives: number; detractors: number };

const scales = {
  nps: { lowest: 0, highest: 10, detractorsUpTo: 6, promotersFrom: 9 },
  csat: { lowest: 1, highest: 5, detractorsUpTo: 2, promotersFrom: 4 },
  ces: { lowest: 1, highest: 7, detractorsUpTo: 3, promotersFrom: 6 },
  star5: { lowest: 1, highest: 5, detractorsUpTo: 2, promotersFrom: 4 },
  thumbs: { lowest: 0, highest: 1, detractorsUpTo: 0, promotersFrom: 1 },
} as const satisfies Record<SurveyType, Scale & { detractorsUpTo: number; promotersFrom: number }>;

export function scaleOf(type: SurveyType): Scale {
  const { lowest, highest } = scales[type];
  return { lowest, highest };
}

/** The scores as they are offered: upwards; only for thumbs up comes first, as people know it. */
export function scoresInOrder(type: SurveyType): number[] {
  const { lowest, highest } = scales[type];
  const scores = Array.from({ length: highest - lowest + 1 }, (_, step) => lowest + step);
  return type === 'thumbs' ? scores.reverse() : scores;
}

/** Whether a number is a score of this type: whole, and on its scale. */
export function isScore(type: SurveyType, score: number): boolean {
  const { lowest, highest } = scales[type];
  return Number.isInteger(score) && score >= lowest && score <= highest;
}

/** Always from the raw score: two scores of a type may share a normalized one, never a category. */
export function categoryOf(type: SurveyType, score: number): Category {
  const { detractorsUpTo, promotersFrom } = scales[type];
  if (score <= detractorsUpTo) return 'detractor';
  return score >= promotersFrom ? 'promoter' : 'passive';
}

/** The score stretched over 0 to 10, to the nearest whole number, halves up. */
export function normalized(type: SurveyType, score: number): number {
  const { lowest, highest } = scales[type];
  return wholeRatio(10 * (score - lowest), highest - lowest);
}

/** A Net Promoter Score as people read it, always with its sign: `+51`, `0`, `−7`. */
export const signedNps = (nps: number): string =>
  nps > 0 ? `+${nps}` : String(nps).replace('-', '\u2212');

/** -100 to 100; null without responses, never a false 0. */
export function netPromoterScore({ promoters, passives, detractors }: Tally): number | null {
  const total = promoters + passives + detractors;
  return total === 0 ? null : wholeRatio(100 * (promoters - detractors), total);
}

/**
 * How far the score of a sample may lie from that of everybody, in points of the score: the half of its 95 % interval,
 * to one decimal. Fewer than two answers say nothing about it.
 */
export function marginOfError({ promoters, passives, detractors }: Tally): number | null {
  const total = promoters + passives + detractors;
  if (total < 2) return null;
  const balance = (promoters - detractors) / total;
  const variance = (promoters + detractors) / total - balance ** 2;
  return Math.round(1000 * deviationsOf95Percent * Math.sqrt(variance / total)) / 10;
}

const deviationsOf95Percent = 1.96;

/** What percentage `part` is of `whole`, to one decimal; 0 of nothing. */
export function percentage(part: number, whole: number): number {
  return whole === 0 ? 0 : wholeRatio(1000 * part, whole) / 10;
}

/** The mean of raw scores, to two decimals; null without any. */
export function averageScore(sum: number, count: number): number | null {
  return count === 0 ? null : wholeRatio(100 * sum, count) / 100;
}

/**
 * A ratio of whole numbers to the nearest whole number, halves away from zero. It stays with whole
 * numbers until the one division, because a ratio such as 1.005 is not a half in binary.
 */
function wholeRatio(numerator: number, denominator: number): number {
  const size = Math.floor((2 * Math.abs(numerator) + denominator) / (2 * denominator));
  return numerator < 0 && size > 0 ? -size : size;
}
