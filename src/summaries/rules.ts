import { addDays, localDay, startOfLocalDay } from '../responses/period.ts';
import type { Category } from '../survey-types.ts';

export const sentiments = ['positive', 'neutral', 'negative', 'mixed'] as const;
export type Sentiment = (typeof sentiments)[number];
export const churnRisks = ['low', 'medium', 'high'] as const;
export type ChurnRisk = (typeof churnRisks)[number];

export type Analysis = {
  sentiment: Sentiment;
  themes: string[];
  churn_risk: ChurnRisk;
  summary: string;
};

export const maxThemes = 5;
export const maxTheme = 40;
export const maxSummary = 300;

const analysisTries = 10;
const firstWaitMs = 60_000;
const maxWaitMs = 3_600_000;

/** Null after the last try. `retryAfterMs` is what the analyst asked for. */
export function analysisWaitMs(tries: number, retryAfterMs: number): number | null {
  if (tries + 1 >= analysisTries) return null;
  return Math.max(firstWaitMs * 2 ** tries, Math.min(retryAfterMs, maxWaitMs));
}

const noticeable = 0.15;

/** Higher threshold for words that contradict the score: "I want my money back" has a positive word. */
const clear = 0.45;

/** `sentences` are scores from -1 to 1. */
export function toneOf(sentences: readonly number[], category: Category): Sentiment {
  const byScore = sentimentOfScore(category);
  const good = sentences.some((each) => each > (byScore === 'negative' ? clear : noticeable));
  const bad = sentences.some((each) => each < -(byScore === 'positive' ? clear : noticeable));
  if (good && bad) return 'mixed';
  if (good) return 'positive';
  return bad ? 'negative' : 'neutral';
}

/** Combines words and score: positive words with a bad score are mixed, and neutral words follow the score. */
export function sentimentOf(tone: Sentiment | 'reserved', category: Category): Sentiment {
  const byScore = sentimentOfScore(category);
  if (tone === 'reserved') return byScore === 'positive' ? 'positive' : 'mixed';
  if (tone === 'neutral') return byScore;
  if (byScore === 'neutral' || tone === 'mixed') return tone;
  return tone === byScore ? tone : 'mixed';
}

/** Matches "Good, but ...". */
export const hasReservation = (comment: string) =>
  /\b(?:but|though|although|however|except|unfortunately)\b/i.test(comment);

export function sentimentOfScore(category: Category): Sentiment {
  return { promoter: 'positive', passive: 'neutral', detractor: 'negative' }[category] as Sentiment;
}

type Scored = { category: Category; score: number };

export function scoreAnalysis({ category, score }: Scored): Analysis {
  const sentiment = sentimentOfScore(category);
  const summary = `A ${category} (score ${score}) left a comment that was not analyzed. The score suggests ${sentiment} feedback.`;
  return { sentiment, themes: [], churn_risk: churnRiskOf(category, sentiment, false), summary };
}

const risk: Record<Category, Record<Sentiment, ChurnRisk>> = {
  detractor: { negative: 'high', mixed: 'medium', neutral: 'medium', positive: 'medium' },
  passive: { negative: 'medium', mixed: 'medium', neutral: 'low', positive: 'low' },
  promoter: { negative: 'medium', mixed: 'low', neutral: 'low', positive: 'low' },
};

/** A comment that mentions leaving raises the risk by one step. */
export function churnRiskOf(category: Category, sentiment: Sentiment, leaving: boolean): ChurnRisk {
  const usual = risk[category][sentiment];
  if (!leaving) return usual;
  return usual === 'low' ? 'medium' : 'high';
}

const leavingWords =
  /\b(cancel\w*|unsubscrib\w*|switch(?:ed|ing)? to|leav(?:e|ing) (?:you|for)|looking (?:at|for) (?:other|another|an alternative)|alternatives?|competitors?|refund\w*|terminat\w+|quit(?:ting)?)\b/gi;

/** Excludes "we will not cancel". */
const negated = /(?:\b(?:not|never|no|without)|n['’]t)\s+(?:[\p{L}'’]+\s+){0,2}$/iu;

export function mentionsLeaving(comment: string): boolean {
  return [...comment.matchAll(leavingWords)].some(
    ({ index }) => !negated.test(comment.slice(Math.max(0, index - 60), index)),
  );
}

/** Enforces limits on the themes of an analyst, whose answers are not trusted. */
export function tidyThemes(themes: readonly string[]): string[] {
  const tidy = themes
    .map((theme) => theme.replace(/\p{C}/gu, ' ').replace(/\s+/g, ' ').trim().toLowerCase())
    .filter((theme) => /[\p{L}\p{N}]/u.test(theme) && theme.length <= maxTheme)
    .filter((theme) => !/\[(?:name|email|phone)\]/.test(theme));
  return [...new Set(tidy)].slice(0, maxThemes);
}

/** Never cuts a character or a placeholder such as `[name]` in two. */
export function tidyText(text: string, maxLength: number): string {
  const line = text
    .replace(/[^\P{C}\n]/gu, ' ')
    .replace(/[ \t]+/g, ' ')
    .trim();
  const characters = Array.from(line);
  if (characters.length <= maxLength) return line;
  const start = characters.slice(0, maxLength - 1).join('');
  return `${start.replace(/\[[a-z]{0,5}$/, '').trimEnd()}…`;
}

export type SummaryPeriod = { start: Date; end: Date };

export const periodOfDays = (timeZone: string, from: string, to: string): SummaryPeriod => ({
  start: startOfLocalDay(from, timeZone),
  end: startOfLocalDay(addDays(to, 1), timeZone),
});

/** A period that includes the present ends now. */
export const endBy = ({ start, end }: SummaryPeriod, now: Date): SummaryPeriod => ({
  start,
  end: end < now ? end : now,
});

export function lastMonth(timeZone: string): SummaryPeriod {
  const month = Temporal.Now.plainDateISO(timeZone).toPlainYearMonth().subtract({ months: 1 });
  const day = (number: number) => month.toPlainDate({ day: number }).toString();
  return periodOfDays(timeZone, day(1), day(month.daysInMonth));
}

export const daysOf = ({ start, end }: SummaryPeriod, timeZone: string) => ({
  first_day: localDay(start, timeZone),
  last_day: localDay(new Date(end.getTime() - 1), timeZone),
});

export const isWholeDays = ({ start, end }: SummaryPeriod, timeZone: string) =>
  [start, end].every(
    (at) => startOfLocalDay(localDay(at, timeZone), timeZone).getTime() === at.getTime(),
  );

/** `14 October 2026`, or `14 October 2026 at 12:30` if the end is not at midnight. */
export function lastMoment(end: Date, timeZone: string): string {
  const isDayEnd = isWholeDays({ start: end, end }, timeZone);
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    dateStyle: 'long',
    ...(!isDayEnd && { timeStyle: 'short' }),
  }).format(isDayEnd ? new Date(end.getTime() - 1) : end);
}

/** The number of calendar months, or 0 if the period is not made of whole months. */
export function wholeMonths(period: SummaryPeriod, timeZone: string): number {
  const [first, end] = [localDay(period.start, timeZone), localDay(period.end, timeZone)];
  const isWhole = first.endsWith('-01') && end.endsWith('-01') && isWholeDays(period, timeZone);
  return isWhole ? Temporal.PlainDate.from(first).until(end, { largestUnit: 'months' }).months : 0;
}

/** The period just before, with the same number of calendar months or the same duration. */
export function periodBefore(period: SummaryPeriod, timeZone: string): SummaryPeriod {
  const { start, end } = period;
  const months = wholeMonths(period, timeZone);
  if (months === 0) return { start: new Date(2 * start.getTime() - end.getTime()), end: start };
  const first = Temporal.PlainDate.from(localDay(start, timeZone)).subtract({ months });
  return { start: startOfLocalDay(first.toString(), timeZone), end: start };
}
