import PostalMime from 'postal-mime';
import type { Sql } from '../lib/db/db.ts';
import { listRawMessages } from './erase.queries.ts';

const readAtOnce = 50;

/** The messages in the built-in mailbox that match, by what they say once they are decoded. */
export async function findMessages(
  sql: Sql,
  matches: (text: string) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const messages: Awaited<ReturnType<typeof listRawMessages>> = await listRawMessages(sql, {
      after,
      atMost: readAtOnce,
    });
    for (const { id, rcpt_to, raw } of messages) {
      if (matches(`${rcpt_to}\n${await wordsOf(raw)}`)) found.push(id);
    }
    if (messages.length < readAtOnce) return found;
    after = messages.at(-1)!.id;
  }
}

async function wordsOf(raw: Buffer): Promise<string> {
  const { subject = '', headers, text = '', html = '' } = await PostalMime.parse(raw);
  const head = headers.map(({ value }) => value).join('\n');
  return [subject, head, text, html].join('\n');
}
