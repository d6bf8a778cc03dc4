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
const longestWaitMs = 3_600_000;

/** When to ask an analyst again that could not answer and may have said when; null is never. */
export function analysisWaitMs(tries: number, wishedMs: number): number | null {
  if (tries + 1 >= analysisTries) return null;
  return Math.max(firstWaitMs * 2 ** tries, Math.min(wishedMs, longestWaitMs));
}

const monthTries = 8;
const firstMonthWaitMs = 10_000;

/** How long a month's summary waits for analyses, twice as long each time; null when it waited enough. */
export function monthWaitMs(tries: number): number | null {
  return tries < monthTries ? firstMonthWaitMs * 2 ** tries : null;
}

const noticeable = 0.15;

/** "I want my money back" has a kind word in it: words that speak against the score must be clear ones. */
const clear = 0.45;

/** The tone of sentences, each from -1 to 1: good and bad next to each other is mixed. */
export function toneOf(sentences: readonly number[], category: Category): Sentiment {
  const byScore = scoreAlone(category);
  const good = sentences.some((each) => each > (byScore === 'negative' ? clear : noticeable));
  const bad = sentences.some((each) => each < -(byScore === 'positive' ? clear : noticeable));
  if (good && bad) return 'mixed';
  if (good) return 'positive';
  return bad ? 'negative' : 'neutral';
}

/** Words and score together: kind words with a bad score are mixed, plain ones take its colour. */
export function sentimentOf(tone: Sentiment | 'reserved', category: Category): Sentiment {
  const byScore = scoreAlone(category);
  if (tone === 'reserved') return byScore === 'positive' ? 'positive' : 'mixed';
  if (tone === 'neutral') return byScore;
  if (byScore === 'neutral' || tone === 'mixed') return tone;
  return tone === byScore ? tone : 'mixed';
}

/** "Good, but ...": praise that goes on to something else. */
export const hasReservation = (comment: string) =>
  /\b(?:but|though|although|however|except|unfortunately)\b/i.test(comment);

export function scoreAlone(category: Category): Sentiment {
  return { promoter: 'positive', passive: 'neutral', detractor: 'negative' }[category] as Sentiment;
}

type Scored = { category: Category; score: number };

export function scoreAnalysis({ category, score }: Scored): Analysis {
  const sentiment = scoreAlone(category);
  const summary = `A ${category} (score ${score}) left a comment that was not read; the score alone says ${sentiment}.`;
  return { sentiment, themes: [], churn_risk: churnRiskOf(category, sentiment, false), summary };
}

const risk: Record<Category, Record<Sentiment, ChurnRisk>> = {
  detractor: { negative: 'high', mixed: 'medium', neutral: 'medium', positive: 'medium' },
  passive: { negative: 'medium', mixed: 'medium', neutral: 'low', positive: 'low' },
  promoter: { negative: 'medium', mixed: 'low', neutral: 'low', positive: 'low' },
};

/** A comment that speaks of leaving is one step nearer to it than the score says. */
export function churnRiskOf(category: Category, sentiment: Sentiment, leaving: boolean): ChurnRisk {
  const usual = risk[category][sentiment];
  if (!leaving) return usual;
  return usual === 'low' ? 'medium' : 'high';
}

const leavingWords =
  /\b(cancel\w*|unsubscrib\w*|switch(?:ed|ing)? to|leav(?:e|ing) (?:you|for)|looking (?:at|for) (?:other|another|an alternative)|alternatives?|competitors?|refund\w*|terminat\w+|quit(?:ting)?)\b/gi;

/** "We will not cancel" is no word of leaving: what is denied shortly before does not count. */
const denied = /(?:\b(?:not|never|no|without)|n['’]t)\s+(?:[\p{L}'’]+\s+){0,2}$/iu;

export function speaksOfLeaving(comment: string): boolean {
  const met = comment.matchAll(leavingWords);
  return [...met].some(({ index }) => !denied.test(comment.slice(Math.max(0, index - 60), index)));
}

/** What an analyst gave, cut to what we keep: never trusted to be short, or few. */
export function tidyThemes(themes: readonly string[]): string[] {
  const tidy = themes
    .map((theme) => theme.replace(/\p{C}/gu, ' ').replace(/\s+/g, ' ').trim().toLowerCase())
    .filter((theme) => /[\p{L}\p{N}]/u.test(theme) && theme.length <= maxTheme)
    .filter((theme) => !/\[(?:name|email|phone)\]/.test(theme));
  return [...new Set(tidy)].slice(0, maxThemes);
}

/** One text of at most so many characters; neither a character nor a placeholder is cut in two. */
export function tidyText(text: string, longest: number): string {
  const line = text
    .replace(/[^\P{C}\n]/gu, ' ')
    .replace(/[ \t]+/g, ' ')
    .trim();
  const characters = Array.from(line);
  if (characters.length <= longest) return line;
  const kept = characters.slice(0, longest - 1).join('');
  return `${kept.replace(/\[[a-z]{0,5}$/, '').trimEnd()}…`;
}

export type SummaryPeriod = { start: Date; end: Date };

/** From the start of one local day to the end of another. */
export const periodOfDays = (timeZone: string, from: string, to: string): SummaryPeriod => ({
  start: startOfLocalDay(from, timeZone),
  end: startOfLocalDay(addDays(to, 1), timeZone),
});

export function lastMonth(timeZone: string): SummaryPeriod {
  const month = Temporal.Now.plainDateISO(timeZone).toPlainYearMonth().subtract({ months: 1 });
  const day = (number: number) => month.toPlainDate({ day: number }).toString();
  return periodOfDays(timeZone, day(1), day(month.daysInMonth));
}

/** The first and the last day of a period, by the clock of its organization. */
export const daysOf = ({ start, end }: SummaryPeriod, timeZone: string) => ({
  first_day: localDay(start, timeZone),
  last_day: localDay(new Date(end.getTime() - 1), timeZone),
});

export const isWholeDays = ({ start, end }: SummaryPeriod, timeZone: string) =>
  [start, end].every(
    (at) => startOfLocalDay(localDay(at, timeZone), timeZone).getTime() === at.getTime(),
  );

/** The number of calendar months that a period consists of; 0 if it is not made of whole months. */
export function wholeMonths(period: SummaryPeriod, timeZone: string): number {
  const [first, end] = [localDay(period.start, timeZone), localDay(period.end, timeZone)];
  const isWhole = first.endsWith('-01') && end.endsWith('-01') && isWholeDays(period, timeZone);
  return isWhole ? Temporal.PlainDate.from(first).until(end, { largestUnit: 'months' }).months : 0;
}

/** As many calendar months before whole months; as long a time before any other period. */
export function periodBefore(period: SummaryPeriod, timeZone: string): SummaryPeriod {
  const { start, end } = period;
  const months = wholeMonths(period, timeZone);
  if (months === 0) return { start: new Date(2 * start.getTime() - end.getTime()), end: start };
  const first = Temporal.PlainDate.from(localDay(start, timeZone)).subtract({ months });
  return { start: startOfLocalDay(first.toString(), timeZone), end: start };
}
