import type { Category } from '../scores.ts';

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

export const mostThemes = 5;
export const longestTheme = 40;
export const longestSummary = 300;

const noticeable = 0.15;

/** What the words say, of -1 to 1 for each sentence: good and bad side by side is mixed. */
export function toneOf(sentences: readonly number[]): Sentiment {
  const good = sentences.some((each) => each > noticeable);
  const bad = sentences.some((each) => each < -noticeable);
  if (good && bad) return 'mixed';
  if (good) return 'positive';
  return bad ? 'negative' : 'neutral';
}

/** Words and score together: kind words beside a bad score are mixed, plain ones take its colour. */
export function sentimentOf(tone: Sentiment, category: Category): Sentiment {
  const byScore = scoreAlone(category);
  if (tone === 'neutral') return byScore;
  if (byScore === 'neutral' || tone === 'mixed') return tone;
  return tone === byScore ? tone : 'mixed';
}

/** All that can be said of a comment in a language that we do not read. */
export function scoreAlone(category: Category): Sentiment {
  return { promoter: 'positive', passive: 'neutral', detractor: 'negative' }[category] as Sentiment;
}

const risk: Record<Category, Record<Sentiment, ChurnRisk>> = {
  detractor: { negative: 'high', mixed: 'medium', neutral: 'medium', positive: 'medium' },
  passive: { negative: 'medium', mixed: 'medium', neutral: 'low', positive: 'low' },
  promoter: { negative: 'medium', mixed: 'low', neutral: 'low', positive: 'low' },
};

/** Whoever speaks of leaving is one step nearer to it than the score says. */
export function churnRiskOf(category: Category, sentiment: Sentiment, leaving: boolean): ChurnRisk {
  const usual = risk[category][sentiment];
  if (!leaving) return usual;
  return usual === 'low' ? 'medium' : 'high';
}

const leavingWords =
  /\b(cancel\w*|unsubscrib\w*|switch(?:ed|ing)? to|leav(?:e|ing) (?:you|for)|looking (?:at|for) (?:other|another|an alternative)|alternatives?|competitors?|refund\w*|terminat\w+|quit(?:ting)?)\b/i;

export const speaksOfLeaving = (comment: string) => leavingWords.test(comment);

/** What an analyst gave, cut to what we keep: never trusted to be short, or few. */
export function tidyThemes(themes: readonly string[]): string[] {
  const tidy = themes
    .map((theme) => theme.replace(/\p{C}/gu, ' ').replace(/\s+/g, ' ').trim().toLowerCase())
    .filter((theme) => theme.length > 0 && theme.length <= longestTheme);
  return [...new Set(tidy)].slice(0, mostThemes);
}

export function tidyText(text: string, longest: number): string {
  const line = text
    .replace(/[^\P{C}\n]/gu, ' ')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`;
}
