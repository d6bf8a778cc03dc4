import { withoutPhones } from './phones.ts';

/** Names and addresses of the people around a comment: the contact, the sender, the organization's. */
export type Known = { names: readonly string[]; emails: readonly string[] };

const excerptLength = 100;

/** Read no further for an excerpt. An entity that ends beyond an edge is shorter than its margin. */
const excerptWindow = 2_000;
const excerptMargin = 320;
const namesWindow = 400;
const namesMargin = 80;

/**
 * The beginning of a comment, fit to be told: e-mail addresses, phone numbers and names replaced, then
 * cut. Takes a few milliseconds whatever the length, for it reads a bounded part.
 */
export async function redactedExcerpt(comment: string, known: Known): Promise<string> {
  const start = comment.slice(0, excerptWindow);
  let text = withoutKnown(start, known);
  if (start.length < comment.length) text = cut(text, text.length - excerptMargin);

  const part = cut(text, namesWindow);
  let told = await withoutNames(part);
  if (part.length < text.length) told = cut(told, told.length - namesMargin);
  return cut(told, excerptLength);
}

/** Loads what recognizes names, about half a second's work, before the first comment has to wait for it. */
export async function prepareRedaction() {
  await redactedExcerpt('Ann Miller was kind.', { names: [], emails: [] });
}

/** The whole comment, redacted. Its time grows with the length: for jobs, not for requests. */
export async function redact(comment: string, known: Known): Promise<string> {
  return await withoutNames(withoutKnown(comment, known));
}

/** At most so many characters, and no placeholder or character cut in two. */
export function cut(text: string, length: number): string {
  const characters = Array.from(text);
  if (characters.length <= length) return text;
  const kept = characters.slice(0, Math.max(0, length)).join('');
  const half = /\[(?:e(?:m(?:a(?:il?)?)?)?|p(?:h(?:o(?:ne?)?)?)?|n(?:a(?:me?)?)?)?$/.exec(kept);
  return half ? kept.slice(0, half.index) : kept;
}

function withoutKnown(text: string, { names, emails }: Known): string {
  const visible = text.normalize('NFC').replace(invisible, '');
  const addressed = replaceAll(visible, emails.map(plain), '[email]').replace(address, '[email]');
  return joined(withoutPhones(replaceAll(addressed, names.flatMap(wordsOf), '[name]')));
}

/** What may stand inside a word without being seen, and would hide it from every pattern. */
const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Anything around an at sign, also a spelled-out one. The look-behind keeps long words cheap. */
const local = String.raw`[^\s@＠<>()[\],;:"“”«»\\]`;
const address = new RegExp(
  String.raw`(?<!${local})(?:${local}+\s?[@＠]\s?|${local}+\s?[([{]\s?at\s?[)\]}]\s?)${local}*[\p{L}\p{N}](?:\s?[([{]\s?dot\s?[)\]}]\s?[\p{L}\p{N}-]+)*`,
  'giu',
);

/** A name is known by each of its words of two or more letters, and by the whole of it. */
function wordsOf(name: string): string[] {
  const words = plain(name).match(/[\p{L}\p{M}]{2,}/gu) ?? [];
  return [...plain(name).split(/\s+/), ...words].filter((word) => /\p{L}[\p{L}\p{M}]/u.test(word));
}

const plain = (text: string) => text.normalize('NFC').replace(invisible, '').trim();

function replaceAll(text: string, words: readonly string[], placeholder: string): string {
  const spellings = new Set(
    words.flatMap((word) => [word, word.toUpperCase(), word.toLowerCase()]),
  );
  const longestFirst = [...spellings]
    .filter((word) => word !== '')
    .sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return text;
  // What letters are takes half a millisecond to compile: first whether any word is there at all.
  if (!new RegExp(longestFirst.map(escaped).join('|'), 'iu').test(text)) return text;
  return text.replace(wholeWords(longestFirst), placeholder);
}

/** Whole words only, where the script puts something between words. The letters are named once for all. */
function wholeWords(words: readonly string[]): RegExp {
  const apart = words.filter((word) => !unspaced.test(word)).map(escaped);
  const whole = String.raw`(?<![\p{L}\p{M}])(?:${apart.join('|')})(?![\p{L}\p{M}])`;
  const patterns = words.filter((word) => unspaced.test(word)).map(escaped);
  return new RegExp([...patterns, ...(apart.length > 0 ? [whole] : [])].join('|'), 'giu');
}

const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]/u;

const escaped = (word: string) =>
  word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/g, String.raw`\s+`);

/** What a reader of English would take for a name; when in doubt it is one. */
async function withoutNames(text: string): Promise<string> {
  const { default: nlp } = await import('compromise');
  const doc = nlp(text.replace(/\[(?:email|phone|name)\]/g, ','));
  const people: string[] = doc.people().terms().out('array');
  const proper = doc.match('#ProperNoun').not('(#Place|#Organization|#Date|#Acronym)');
  const found: string[] = [...people, ...proper.out('array')].flatMap(wordsOf);
  return joined(replaceAll(text, found, '[name]').replace(besideName, '[name]'));
}

/** A capital beside a name is taken for its other half. */
const besideName = /\b\p{Lu}[\p{L}'’-]+ \[name\]|\[name\] \p{Lu}[\p{L}'’-]+/gu;

/** First and last name are one person. */
const joined = (text: string) => text.replace(/\[name\](?:[\s.-]{1,2}\[name\])+/g, '[name]');
