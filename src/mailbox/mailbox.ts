import PostalMime from 'postal-mime';
import { type Db, one, type Sql } from '../lib/db/db.ts';
import type { MailTransport } from '../lib/smtp/smtp.ts';

/** Stores mails when no SMTP server is set, so that nothing leaves the machine. */
export const createMailbox = (db: Db): MailTransport => ({
  async send({ from, to }, raw, { mayLeave } = {}) {
    if (mayLeave && !(await mayLeave()))
      return { kind: 'lost', reason: 'the email is no longer wanted' };
    const { id } = one(
      await db<{ id: string }[]>`
        insert into mailbox_messages (mail_from, rcpt_to, subject, raw)
        values (${from}, ${to}, ${subjectOf(raw)}, ${raw})
        returning id`,
    );
    return { kind: 'accepted', response: `250 kept in the mailbox as ${id}` };
  },
});

const maxMails = 10_000;

export async function deleteOldMessages({ db }: { db: Db }) {
  await db`
    delete from mailbox_messages
    where id in (
      select id from mailbox_messages order by received_at desc, id desc offset ${maxMails}
    )`;
}

/** Unfolded, but still encoded. */
function subjectOf(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.subarray(0, end < 0 ? undefined : end).toString('latin1');
  const [, subject = ''] = /^subject:[ \t]*((?:.*)(?:\r\n[ \t].*)*)/im.exec(head) ?? [];
  return subject.replace(/\r\n[ \t]/g, ' ');
}

export type MessageRow = {
  id: string;
  mail_from: string;
  rcpt_to: string;
  subject: string;
  received_at: Date;
};

export async function listMessages(sql: Sql, { page, limit }: { page: number; limit: number }) {
  return await sql<MessageRow[]>`
    select id, mail_from, rcpt_to, subject, received_at
    from mailbox_messages
    order by received_at desc, id desc
    limit ${limit + 1} offset ${(page - 1) * limit}`;
}

export async function findMessage(sql: Sql, id: string) {
  const [message] = await sql<(MessageRow & { raw: Buffer })[]>`
    select id, mail_from, rcpt_to, subject, received_at, raw
    from mailbox_messages
    where id = ${id}`;
  return message;
}

const batchSize = 50;

/** Matches against the decoded text, so that encoded words are found, too. */
export async function findMessages(sql: Sql, matches: (text: string) => boolean) {
  const matching: string[] = [];
  for (let after: string | null = null; ; ) {
    const messages: { id: string; rcpt_to: string; raw: Buffer }[] = await sql<
      { id: string; rcpt_to: string; raw: Buffer }[]
    >`
      select id, rcpt_to, raw
      from mailbox_messages
      where ${after}::uuid is null or id > ${after}::uuid
      order by id
      limit ${batchSize}`;
    for (const { id, rcpt_to, raw } of messages) {
      if (matches(`${rcpt_to}\n${await decodeText(raw)}`)) matching.push(id);
    }
    if (messages.length < batchSize) return matching;
    after = messages.at(-1)!.id;
  }
}

async function decodeText(raw: Buffer): Promise<string> {
  const { subject = '', headers, text = '', html = '' } = await PostalMime.parse(raw);
  const head = headers.map(({ value }) => value).join('\n');
  return [subject, head, text, html].join('\n');
}

export async function deleteMessagesById(sql: Sql, ids: readonly string[]): Promise<number> {
  const { count } = await sql`delete from mailbox_messages where id = any (${[...ids]}::uuid[])`;
  return count;
}

/** Deletes messages to an erased address, unless it has been allowed again since. */
export async function deleteMessagesToErased(sql: Sql, orgId: string, erasureId: string) {
  await sql`
    delete from mailbox_messages m
    using erasures e
    join organizations o on o.id = e.org_id
    where e.org_id = ${orgId} and e.id = ${erasureId} and e.allowed_at is null
      and keyed_hash(o.address_key, m.rcpt_to) = e.address_hash`;
}
