import { lazily } from '../../lib/async/lazily.ts';
import { languages } from '../../web/language.ts';

const names = lazily(() => new Intl.DisplayNames('en', { type: 'language' }));

export const nameOfLanguage = (tag: string): string => names().of(tag) ?? tag;

/** The languages that pages and mails have words in, and the one that is chosen already. */
export function languageChoices(chosen: string | string[] | undefined) {
  const own = [chosen ?? []].flat();
  const tags = new Set([...languages.keys(), ...own]);
  return [...tags].map((value) => ({ value, text: nameOfLanguage(value) }));
}
