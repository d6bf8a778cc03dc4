import { lazily } from '../async/lazily.ts';

const names = lazily(() => new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }));
/** ISO 639-1 has names for all of its two letters; of the 8,000 codes of three letters not all have one here. */
const lettersOfNamed = 2;
const mostLetters = 3;

/**
 * Whether a tag such as `en` or `pt-BR` names a language. `english` is well-formed, and no language has such a code;
 * `en-u-ca-buddhist` says more than a language, and has no name that could be shown.
 */
export function isLanguage(tag: string): boolean {
  try {
    const { language } = new Intl.Locale(tag);
    if (language.length > mostLetters || language === 'und') return false;
    const name = names().of(tag);
    return (
      name !== undefined || language.length > lettersOfNamed || names().of(language) !== undefined
    );
  } catch {
    return false;
  }
}
