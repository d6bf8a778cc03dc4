import { parseAccept } from 'hono/utils/accept';
import { lazy } from '../lib/async/memoize.ts';
import { isLanguage } from '../lib/validation/parse.ts';
import { type SurveyType, typeFacts } from '../survey-types.ts';
import { ar } from './languages/ar.ts';
import { de } from './languages/de.ts';
import { en, type Texts } from './languages/en.ts';
import { es } from './languages/es.ts';
import { fr } from './languages/fr.ts';
import { it } from './languages/it.ts';
import { ja } from './languages/ja.ts';
import { nl } from './languages/nl.ts';
import { pl } from './languages/pl.ts';
import { pt } from './languages/pt.ts';

const names = lazy(() => new Intl.DisplayNames('en', { type: 'language' }));

/** The English name of a language, or the tag itself if it is not a language. */
export const languageName = (tag: string): string =>
  (isLanguage(tag) ? names().of(tag) : undefined) ?? tag;

/** The translated languages and the languages already selected. */
export function languageChoices(selected: string | string[] | undefined) {
  const tags = new Set([...languages.keys(), ...[selected ?? []].flat()]);
  return [...tags].map((value) => ({ value, text: languageName(value) }));
}

export type Language = { tag: string; texts: Texts; direction: 'ltr' | 'rtl' };

/** The label of a score, or null between labeled ends. */
export function scoreLabel(type: SurveyType, score: number, texts: Texts): string | null {
  const { lowest, highest, labels } = typeFacts(type);
  const scale = texts[labels];
  if (scale.length > highest - lowest) return scale[score - lowest]!;
  return score === lowest ? scale[0]! : score === highest ? scale[1]! : null;
}

/** The text of a score button in an email. */
export function buttonText(type: SurveyType, score: number, texts: Texts): string {
  const { control } = typeFacts(type);
  if (control === 'star') return `${score}\u00a0★`;
  if (control !== 'thumb') return String(score);
  return `${score === 0 ? '👎' : '👍'} ${scoreLabel(type, score, texts)}`;
}

/** The line below the score buttons of an email, or null if the buttons have their labels. */
export function scaleLegend(type: SurveyType, texts: Texts): string | null {
  const { lowest, highest, control } = typeFacts(type);
  if (control === 'thumb') return null;
  return [lowest, highest]
    .map((score) => `${score} = ${scoreLabel(type, score, texts)}`)
    .join(' · ');
}

export const languages: ReadonlyMap<string, Texts> = new Map(
  Object.entries({ en, de, fr, es, it, pt, nl, pl, ar, ja }),
);

const primarySubtag = (tag: string) => tag.toLowerCase().split(/[-_]/)[0] ?? '';

export const isTranslated = (tag: string): boolean => languages.has(primarySubtag(tag));

/** The language for a tag such as `de-AT`, or English. */
export function languageOf(tag: string): Language {
  const primary = isTranslated(tag) ? primarySubtag(tag) : 'en';
  const direction = primary === 'ar' ? 'rtl' : 'ltr';
  return { tag: primary, texts: languages.get(primary)!, direction };
}

/** Keeps a right-to-left name from reversing the text around it. */
export const isolate = (name: string) => `\u2068${name}\u2069`;

/** The languages of an `Accept-Language` header, the preferred one first. */
export const acceptedLanguages = (header: string | null | undefined): string[] =>
  parseAccept(header ?? '')
    .filter(({ q }) => q > 0)
    .map(({ type }) => type);

export const preferredLanguage = (header: string | null | undefined): Language =>
  languageOf(acceptedLanguages(header).find(isTranslated) ?? 'en');
