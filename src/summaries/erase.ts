import type { Sql } from '../lib/db/db.ts';
import { lockSummariesOver, replaceText } from './queries.ts';

/** Removes quotes of a comment from summaries. Returns the number of changed summaries. */
export async function removeQuotes(
  tx: Sql,
  orgId: string,
  { comment, created_at }: { comment: string; created_at: Date },
): Promise<number> {
  let changed = 0;
  for (const { id, text } of await lockSummariesOver(tx, orgId, created_at)) {
    const cleaned = withoutQuotes(text, comment);
    if (cleaned === undefined) continue;
    await replaceText(tx, orgId, id, cleaned);
    changed += 1;
  }
  return changed;
}

/** A text that shares this many words in a row with a comment is a quote. */
const sharedWords = 4;
const heading = 'In their words:';

/** Removes lines and sentences that quote the comment. Returns undefined if there are none. */
export function withoutQuotes(summary: string, comment: string): string | undefined {
  const runs = runsOf(comment);
  if (runs.length === 0) return undefined;
  const isQuote = (text: string) => {
    const words = ` ${wordsOf(text).join(' ')} `;
    return runs.some((run) => words.includes(` ${run} `)) || isRedacted(text, comment);
  };
  const lines = summary.split('\n').flatMap((line) => {
    if (line.startsWith('- ')) return isQuote(line) ? [] : [line];
    const sentences = line.split(/(?<=[.!?…]["”»]?)\s+/);
    const kept = sentences.filter((sentence) => !isQuote(sentence));
    if (kept.length === sentences.length) return [line];
    return kept.length === 0 ? [] : [kept.join(' ')];
  });
  const text = lines
    .filter((line, place) => line !== heading || lines[place + 1]?.startsWith('- '))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return text === summary.trim() ? undefined : text;
}

function runsOf(comment: string): string[] {
  const words = wordsOf(comment);
  if (words.length === 0) return [];
  if (words.length <= sharedWords) return [words.join(' ')];
  return words
    .slice(sharedWords - 1)
    .map((_, end) => words.slice(end, end + sharedWords).join(' '));
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const placeholder = /\[(?:name|email|phone)\]/g;

/** True if the parts between placeholders appear in the comment in this order. */
function isRedacted(line: string, comment: string): boolean {
  const [, quoted = ''] = /“(.*)”/s.exec(line) ?? [];
  if (!quoted.includes('[')) return false;
  const words = wordsOf(comment).join(' ');
  const parts = quoted.split(placeholder).map((part) => wordsOf(part).join(' '));
  let from = 0;
  for (const part of parts) {
    const at = words.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return parts.some((part) => part !== '');
}
