/** Joining characters, which mean something in these scripts and in emoji, and nothing elsewhere. */
const joiningScripts = String.raw`\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}`;
const emoji = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f`;

/** Characters that may stand inside a word without being seen, and would hide it from every pattern. */
const invisible = new RegExp(
  String.raw`[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|(?:(?<![${joiningScripts}${emoji}])|(?<=\p{Nd}))[\u200c\u200d]+`,
  'gu',
);

export const visible = (text: string) => text.normalize('NFC').replace(invisible, '');

const plain = (text: string) => visible(text).trim();

/** A name is known by each of its words of two or more letters, and by the whole of it. */
export function wordsOf(name: string): string[] {
  const words = plain(name).match(/[\p{L}\p{M}]{2,}/gu) ?? [];
  return [...plain(name).split(/\s+/), ...words].filter((word) => /\p{L}[\p{L}\p{M}]/u.test(word));
}

/** Replaces words wherever they stand as a whole, in any case. */
export function replaceWords(text: string, words: readonly string[], placeholder: string): string {
  const spellings = new Set(
    words.map(plain).flatMap((word) => [word, word.toUpperCase(), word.toLowerCase()]),
  );
  const longestFirst = [...spellings]
    .filter((word) => word !== '')
    .sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return text;
  // What letters are takes half a millisecond to compile: first whether any word is there at all.
  if (!new RegExp(longestFirst.map(pattern).join('|'), 'iu').test(text)) return text;
  return text.replace(wholeWords(longestFirst), placeholder);
}

/** Whole words only, where the script puts something between words. The letters are named once for all. */
function wholeWords(words: readonly string[]): RegExp {
  const apart = words.filter((word) => !unspaced.test(word)).map(pattern);
  const whole = String.raw`(?<![\p{L}\p{M}])(?:${apart.join('|')})(?![\p{L}\p{M}])`;
  const patterns = words.filter((word) => unspaced.test(word)).map(pattern);
  return new RegExp([...patterns, ...(apart.length > 0 ? [whole] : [])].join('|'), 'giu');
}

const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]/u;
const mayBeJoined = new RegExp(`[${joiningScripts}]`, 'u');

/** A word as a pattern. In a script with joining characters they may be written or not. */
function pattern(word: string): string {
  if (!mayBeJoined.test(word)) return escaped(word);
  const characters = [...word.replace(/[\u200c\u200d]/g, '')].map(escaped);
  return characters.join(String.raw`[\u200c\u200d]*`);
}

const escaped = (word: string) =>
  word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/g, String.raw`\s+`);

/** First and last name are one person. */
export const joined = (text: string) => text.replace(/\[name\](?:[\s.-]{1,2}\[name\])+/g, '[name]');
