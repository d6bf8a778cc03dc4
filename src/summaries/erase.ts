import type { Sql } from '../lib/db/db.ts';
import { lockSummariesOver, replaceText } from './queries.ts';

/** Takes quotes of a comment out of the summaries of its time, and returns how many summaries had any. */
export async function removeQuotes(
  tx: Sql,
  orgId: string,
  { comment, created_at }: { comment: string; created_at: Date },
): Promise<number> {
  let changed = 0;
  for (const { id, text } of await lockSummariesOver(tx, orgId, created_at)) {
    const without = withoutQuotes(text, comment);
    if (without === undefined) continue;
    await replaceText(tx, orgId, id, without);
    changed += 1;
  }
  return changed;
}

/** So many words in a row that a text shares with a comment make it a quote of it. */
const sharedWords = 4;
const heading = 'In their words:';

/**
 * A summary without what it says in the words of a comment: whole lines of quotes, and sentences that share several
 * words in a row with it. A quote may have placeholders in the place of names. Returns nothing if there is nothing to take out.
 */
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
  const tidied = lines.filter(
    (line, place) => line !== heading || lines[place + 1]?.startsWith('- '),
  );
  const text = tidied
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

/** Whether a line is the comment with placeholders: each of its parts stands in the comment, one after the other. */
function isRedacted(line: string, comment: string): boolean {
  const [, quoted = ''] = /“(.*)”/s.exec(line) ?? [];
  if (!quoted.includes('[')) return false;
  const said = wordsOf(comment).join(' ');
  const parts = quoted.split(placeholder).map((part) => wordsOf(part).join(' '));
  let from = 0;
  for (const part of parts) {
    const found = said.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return parts.some((part) => part !== '');
}
