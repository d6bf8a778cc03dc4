import { withoutPhones } from './phones.ts';
import { joined, replaceWords, visible, wordsOf } from './words.ts';

/** Names and addresses of the people around a comment: the contact, the sender, the organization's. */
export type PeopleToRedact = { names: readonly string[]; emails: readonly string[] };

const excerptLength = 100;

/** Read no further for an excerpt. An entity that ends beyond an edge is shorter than its margin. */
const excerptWindow = 2_000;
const excerptMargin = 320;
const namesWindow = 400;
const namesMargin = 80;

export type NameRemover = (text: string) => Promise<string>;

/** The beginning of a comment without its people: a bounded part is read, then cut. */
export async function excerptBy(removeNames: NameRemover, comment: string, known: PeopleToRedact) {
  const start = comment.slice(0, excerptWindow);
  let text = withoutKnown(start, known);
  if (start.length < comment.length) text = cut(text, text.length - excerptMargin);

  const part = cut(text, namesWindow);
  let redacted = await removeNames(part);
  if (part.length < text.length) redacted = cut(redacted, redacted.length - namesMargin);
  return cut(redacted, excerptLength);
}

/** At most so many characters, and no placeholder or character cut in two. */
export function cut(text: string, length: number): string {
  const characters = Array.from(text);
  if (characters.length <= length) return text;
  const kept = characters.slice(0, Math.max(0, length)).join('');
  const half = /\[(?:e(?:m(?:a(?:il?)?)?)?|p(?:h(?:o(?:ne?)?)?)?|n(?:a(?:me?)?)?)?$/.exec(kept);
  return half ? kept.slice(0, half.index) : kept;
}

/** A comment without known names and addresses, mail addresses and phone numbers. */
export function withoutKnown(text: string, { names, emails }: PeopleToRedact): string {
  const withoutEmails = replaceWords(visible(text), emails, '[email]').replace(address, '[email]');
  return joined(withoutPhones(replaceWords(withoutEmails, names.flatMap(wordsOf), '[name]')));
}

/** Anything around an at sign, also a spelled-out one. The look-behind keeps long words cheap. */
const local = String.raw`[^\s@＠<>()[\],;:"“”«»\\]`;
const address = new RegExp(
  String.raw`(?<!${local})(?:${local}+\s?[@＠]\s?|${local}+\s?[([{]\s?at\s?[)\]}]\s?)${local}*[\p{L}\p{N}](?:\s?[([{]\s?dot\s?[)\]}]\s?[\p{L}\p{N}-]+)*`,
  'giu',
);
