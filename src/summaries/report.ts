import { type Category, netPromoterScore, percentage, signedNps } from '../scores.ts';
import type { ThemeCount, Volume } from './summary.queries.ts';

/** All that a report is written from. Quotes have no recognizable person in them. */
export type ReportFacts = {
  organization: string;
  period: { from: string; to: string };
  now: Volume;
  before: Volume;
  themes: readonly ThemeCount[];
  quotes: readonly { category: Category; text: string }[];
};

/** The report in words, written from a template: what happened, why, and what people said. */
export function writeReport(facts: ReportFacts): string {
  const paragraphs = [headline(facts), mood(facts), subjects(facts), voices(facts)];
  return paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
}

function headline({ organization, period, now, before }: ReportFacts): string {
  const between = `From ${period.from} to ${period.to}`;
  if (now.responses === 0) return `${between}, ${organization} received no answers.`;
  const answers = `${organization} received ${count(now.responses, 'answer')}`;
  const nps = netPromoterScore(now);
  const earlier = netPromoterScore(before);
  const change = `, ${volumeChange(now.responses, before.responses)}`;
  const score = `The Net Promoter Score was ${signedNps(nps ?? 0)}${npsChange(nps, earlier)}.`;
  return `${between}, ${answers}${change}. ${score}`;
}

function volumeChange(now: number, before: number): string {
  if (before === 0) return 'with none in the period before to compare';
  if (now === before) return `as many as in the period before`;
  const percent = Math.round((100 * Math.abs(now - before)) / before);
  return `${percent}% ${now > before ? 'more' : 'fewer'} than the ${before} of the period before`;
}

function npsChange(now: number | null, before: number | null): string {
  if (now === null || before === null) return '';
  if (now === before) return ', unchanged';
  const points = count(Math.abs(now - before), 'point');
  return `, ${now > before ? 'up' : 'down'} ${points} from ${signedNps(before)}`;
}

function mood({ now }: ReportFacts): string {
  if (now.responses === 0) return '';
  const share = (part: number) => `${percentage(part, now.responses)}%`;
  return [
    `${share(now.promoters)} of the respondents are promoters,`,
    `${share(now.passives)} passives and ${share(now.detractors)} detractors`,
    `(${now.promoters}, ${now.passives} and ${now.detractors}).`,
  ].join(' ');
}

function subjects({ themes }: ReportFacts): string {
  const [first, ...rest] = themes;
  if (!first) return '';
  const others = rest.map(
    ({ theme, mentions, before }) => `${theme} (${mentions}, ${trend(mentions, before)})`,
  );
  const more = others.length > 0 ? ` Then came ${listed(others)}.` : '';
  const main = `People spoke most of ${first.theme}: ${count(first.mentions, 'mention')}, ${trend(first.mentions, first.before)}.`;
  return `${main}${more}${sorest(themes)}`;
}

const trend = (now: number, before: number) => {
  if (before === 0) return 'new';
  if (now === before) return 'as before';
  return `${now > before ? 'up' : 'down'} from ${before}`;
};

/** What detractors speak of most is what to mend first. */
function sorest(themes: readonly ThemeCount[]): string {
  const [worst] = [...themes].sort((one, other) => other.detractors - one.detractors);
  if (!worst || worst.detractors < 2) return '';
  return ` Detractors speak most of ${worst.theme} (${worst.detractors} of its ${worst.mentions} mentions): that is where to look first.`;
}

function voices({ quotes }: ReportFacts): string {
  const lines = quotes.map(({ category, text }) => `- “${text}” (${category})`);
  return lines.length === 0 ? '' : `In their words:\n${lines.join('\n')}`;
}

const count = (number: number, thing: string) => `${number} ${thing}${number === 1 ? '' : 's'}`;
const listed = (words: readonly string[]) =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(words);

/** Whether a text brings no number that the facts do not have: what is counted was counted by us. */
export function hasOnlyNumbersOf(text: string, facts: string): boolean {
  const known = new Set(numbersIn(facts));
  return numbersIn(text).every((number) => known.has(number));
}

const numbersIn = (text: string): string[] =>
  text.replace(/(?<=\d),(?=\d{3}(?!\d))/g, '').match(/\d+(?:\.\d+)?/g) ?? [];
