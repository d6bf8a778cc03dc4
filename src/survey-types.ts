/** The survey types and the calculation of their scores. */

import {
  differenceOf,
  type Estimate,
  estimateMean,
  estimateNps,
  estimateShare,
  type Interval,
  intervalOf,
  marginOf,
} from './intervals.ts';

type TypeFacts = Scale & {
  detractorsUpTo: number;
  promotersFrom: number;
  /** The name in the list of surveys. */
  name: string;
  /** The label for all surveys of this type. */
  kind: string;
  /** `share` is the percentage of promoters. */
  measure: 'nps' | 'share' | 'mean';
  /** The name of the metric. */
  number: string;
  shortNumber: string;
  /** The score buttons of the survey page, and the icon in lists. */
  control: 'number' | 'face' | 'star' | 'thumb';
  /** The texts beside the scores, in `src/web/languages`. */
  labels: 'likelihood' | 'satisfaction' | 'ease' | 'quality' | 'thumbs';
  /** Scores per row in an email on a phone. */
  mailRow: number;
  /** A good answer, for pictures of the scale. */
  goodScore: number;
  /** The question of previews and imported surveys. */
  question: (subject: string) => string;
  /** Promoters, passives and detractors under other names. Null if a scale has no such score. */
  categoryNames?: readonly [string, string | null, string];
};

const types = {
  nps: {
    lowest: 0,
    highest: 10,
    detractorsUpTo: 6,
    promotersFrom: 9,
    name: 'Recommendation, 0 to 10 (NPS)',
    kind: 'Net Promoter Score',
    measure: 'nps',
    number: 'Net Promoter Score',
    shortNumber: 'NPS',
    control: 'number',
    labels: 'likelihood',
    mailRow: 6,
    goodScore: 9,
    question: (subject) => `How likely are you to recommend ${subject}?`,
  },
  csat: {
    lowest: 1,
    highest: 5,
    detractorsUpTo: 2,
    promotersFrom: 4,
    name: 'Satisfaction, 1 to 5 (CSAT)',
    kind: 'Satisfaction',
    measure: 'share',
    number: 'Satisfied (4 or 5 of 5)',
    shortNumber: 'Satisfied',
    control: 'face',
    labels: 'satisfaction',
    mailRow: 5,
    goodScore: 5,
    question: (subject) => `How satisfied are you with ${subject}?`,
    categoryNames: ['Satisfied', 'Neutral', 'Dissatisfied'],
  },
  ces: {
    lowest: 1,
    highest: 7,
    detractorsUpTo: 3,
    promotersFrom: 6,
    name: 'Effort, 1 to 7 (CES)',
    kind: 'Ease',
    measure: 'mean',
    number: 'Ease of 7',
    shortNumber: 'Ease of 7',
    control: 'number',
    labels: 'ease',
    mailRow: 4,
    goodScore: 6,
    question: () => 'How easy was it to get what you needed?',
  },
  star5: {
    lowest: 1,
    highest: 5,
    detractorsUpTo: 2,
    promotersFrom: 4,
    name: 'Stars, 1 to 5',
    kind: 'Stars',
    measure: 'mean',
    number: 'Stars of 5',
    shortNumber: 'Stars of 5',
    control: 'star',
    labels: 'quality',
    mailRow: 5,
    goodScore: 4,
    question: (subject) => `How would you rate ${subject}?`,
  },
  thumbs: {
    lowest: 0,
    highest: 1,
    detractorsUpTo: 0,
    promotersFrom: 1,
    name: 'Thumbs up or down',
    kind: 'Thumbs',
    measure: 'share',
    number: 'Thumbs up',
    shortNumber: 'Thumbs up',
    control: 'thumb',
    labels: 'thumbs',
    mailRow: 2,
    goodScore: 1,
    question: () => 'Did we help you?',
    categoryNames: ['Thumbs up', null, 'Thumbs down'],
  },
} as const satisfies Record<string, TypeFacts>;

export type SurveyType = keyof typeof types;

export const surveyTypes = Object.keys(types) as SurveyType[];

export const isSurveyType = (text: unknown): text is SurveyType =>
  surveyTypes.some((type) => type === text);

export const typeFacts = (type: SurveyType): TypeFacts => types[type];

export const categories = ['promoter', 'passive', 'detractor'] as const;

export type Category = (typeof categories)[number];

export type Scale = { lowest: number; highest: number };

export type Tally = { promoters: number; passives: number; detractors: number };

/** Ascending, except that thumbs up comes first. */
export function scoresInOrder(type: SurveyType): number[] {
  const { lowest, highest, control } = typeFacts(type);
  const scores = Array.from({ length: highest - lowest + 1 }, (_, step) => lowest + step);
  return control === 'thumb' ? scores.reverse() : scores;
}

export function isScore(type: SurveyType, score: number): boolean {
  const { lowest, highest } = types[type];
  return Number.isInteger(score) && score >= lowest && score <= highest;
}

/** Uses the raw score, because two scores can have the same normalized score but different categories. */
export function categoryOf(type: SurveyType, score: number): Category {
  const { detractorsUpTo, promotersFrom } = types[type];
  if (score <= detractorsUpTo) return 'detractor';
  return score >= promotersFrom ? 'promoter' : 'passive';
}

/** Scales a score to 0 to 10 and rounds halves up. */
export function normalized(type: SurveyType, score: number): number {
  const { lowest, highest } = types[type];
  return wholeRatio(10 * (score - lowest), highest - lowest);
}

/** A score for lists with several survey types. */
export function scoreText(type: SurveyType, score: number): string {
  if (type === 'nps') return String(score);
  if (types[type].control === 'thumb') return score === 1 ? 'up' : 'down';
  return `${score}/${types[type].highest}`;
}

/** A score in words, if its type has them. */
export function scoreName(type: SurveyType, score: number): string {
  const { control } = types[type];
  if (control === 'thumb') return score === 1 ? 'Thumbs up' : 'Thumbs down';
  if (control === 'star') return score === 1 ? '1 star' : `${score} stars`;
  return String(score);
}

export type Counted = Tally & { score_sum: number };

export type Measured = {
  total: number;
  value: number | null;
  /** The 95 % confidence interval. */
  interval: Interval | null;
  estimate: Estimate | null;
};

/** Calculates the metric of a type. Only the interval of a mean needs the variance. */
export function measure(
  type: SurveyType,
  counted: Counted,
  variance: number | null,
  scores = totalOf(counted),
): Measured {
  const total = totalOf(counted);
  if (total === 0) return { total, value: null, interval: null, estimate: null };
  const kind = types[type].measure;
  const estimate = estimateOf(type, counted, { variance, scores });
  const interval = estimate && intervalOf(estimate, boundsOf(type), decimalsOf[kind].interval);
  return { total, value: scoreOf(type, counted), interval, estimate };
}

export const totalOf = ({ promoters, passives, detractors }: Tally) =>
  promoters + passives + detractors;

function scoreOf(type: SurveyType, counted: Counted): number | null {
  const kind = types[type].measure;
  if (kind === 'nps') return netPromoterScore(counted);
  if (kind === 'share') return percentage(counted.promoters, totalOf(counted));
  return averageScore(counted.score_sum, totalOf(counted));
}

function estimateOf(
  type: SurveyType,
  counted: Counted,
  spread: { variance: number | null; scores: number },
): Estimate | null {
  const { promoters, detractors, score_sum } = counted;
  const responses = totalOf(counted);
  const kind = types[type].measure;
  if (kind === 'nps') return estimateNps(promoters, detractors, responses);
  if (kind === 'share') return estimateShare(promoters, responses);
  return estimateMean({ ...spread, mean: score_sum / responses, responses });
}

const decimalsOf = {
  nps: { value: 0, interval: 1 },
  share: { value: 1, interval: 1 },
  mean: { value: 2, interval: 2 },
} as const;

/** The range of the metric. */
export function boundsOf(type: SurveyType): Scale {
  const { measure, lowest, highest } = types[type];
  if (measure === 'nps') return { lowest: -100, highest: 100 };
  return measure === 'share' ? { lowest: 0, highest: 100 } : { lowest, highest };
}

export type Change = {
  by: number;
  /** Interval of the difference, or null if one of the two values has no interval. */
  interval: Interval | null;
  /** A change is clear only if its interval excludes 0. */
  meaning: 'none' | 'unknown' | 'chance' | 'better' | 'worse';
};

/** Compares two values of a metric. Higher is better on all scales. */
export function compare(type: SurveyType, now: Measured, before: Measured): Change | null {
  if (now.value === null || before.value === null) return null;
  const decimals = decimalsOf[types[type].measure];
  const by = Number((now.value - before.value).toFixed(decimals.value));
  if (now.estimate === null || before.estimate === null) {
    return { by, interval: null, meaning: by === 0 ? 'none' : 'unknown' };
  }
  const difference = differenceOf(now.estimate, before.estimate);
  const interval = intervalOf(
    difference,
    { lowest: -Infinity, highest: Infinity },
    decimals.interval,
  );
  // With very few responses the adjusted difference may have the opposite sign.
  const isClear =
    Math.abs(difference.center) > difference.half && Math.sign(difference.center) === Math.sign(by);
  if (isClear) return { by, interval, meaning: by > 0 ? 'better' : 'worse' };
  return { by, interval, meaning: by === 0 ? 'none' : 'chance' };
}

/** +51, 65.3%, 4.31. */
export function formatValue(type: SurveyType, value: number): string {
  const { measure } = types[type];
  if (measure === 'mean') return value.toFixed(2);
  return measure === 'share' ? `${value}%` : signedNps(value);
}

/** `+10.0 to +61.8`, `50.0% to 83.3%`. */
export const formatInterval = (type: SurveyType, { low, high }: Interval): string =>
  `${formatEnd(type, low)} to ${formatEnd(type, high)}`;

function formatEnd(type: SurveyType, end: number): string {
  const { measure } = types[type];
  const digits = end.toFixed(decimalsOf[measure].interval);
  if (measure === 'nps') return end > 0 ? `+${digits}` : digits.replace('-', '\u2212');
  return measure === 'share' ? `${digits}%` : digits;
}

/** A change: `7 points`, `0.12`. */
export function formatPoints(type: SurveyType, by: number): string {
  if (types[type].measure === 'mean') return by.toFixed(2);
  return `${by} ${by === 1 ? 'point' : 'points'}`;
}

/** `+51`, `0`, `−7`. */
export const signedNps = (nps: number): string =>
  nps > 0 ? `+${nps}` : String(nps).replace('-', '\u2212');

/** -100 to 100, or null without responses. */
export function netPromoterScore({ promoters, passives, detractors }: Tally): number | null {
  const total = promoters + passives + detractors;
  return total === 0 ? null : wholeRatio(100 * (promoters - detractors), total);
}

/** The 95 % interval and the margin of error. Null without responses. */
export function npsInterval({ promoters, passives, detractors }: Tally) {
  const total = promoters + passives + detractors;
  if (total === 0) return { margin_of_error: null, interval: null };
  const estimate = estimateNps(promoters, detractors, total);
  const interval = intervalOf(estimate, boundsOf('nps'), decimalsOf.nps.interval);
  return { margin_of_error: marginOf(interval, decimalsOf.nps.interval), interval };
}

/** To one decimal. 0 if `whole` is 0. */
export function percentage(part: number, whole: number): number {
  return whole === 0 ? 0 : wholeRatio(1000 * part, whole) / 10;
}

/** To two decimals, or null without scores. */
export function averageScore(sum: number, count: number): number | null {
  return count === 0 ? null : wholeRatio(100 * sum, count) / 100;
}

/**
 * Rounds a ratio, halves away from zero. Uses integers up to the division, because floats such as 1.005 are inexact.
 */
function wholeRatio(numerator: number, denominator: number): number {
  const size = Math.floor((2 * Math.abs(numerator) + denominator) / (2 * denominator));
  return numerator < 0 && size > 0 ? -size : size;
}
