import { lazily } from '../../lib/async/lazily.ts';
import { isLanguage } from '../../lib/validation/language.ts';
import { languages } from '../../web/language.ts';

const names = lazily(() => new Intl.DisplayNames('en', { type: 'language' }));

/** What was typed may be no language. */
export const nameOfLanguage = (tag: string): string =>
  (isLanguage(tag) ? names().of(tag) : undefined) ?? tag;

/** The languages that pages and mails have words in, and the one that is chosen already. */
export function languageChoices(chosen: string | string[] | undefined) {
  const own = [chosen ?? []].flat();
  const tags = new Set([...languages.keys(), ...own]);
  return [...tags].map((value) => ({ value, text: nameOfLanguage(value) }));
}
