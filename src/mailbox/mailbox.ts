import PostalMime from 'postal-mime';
import { type Db, one, type Sql } from '../lib/db/db.ts';
import type { MailTransport } from '../lib/smtp/smtp.ts';

/** Where mails land when no SMTP server is set: nothing leaves the machine, and all can be read. */
export const createMailbox = (db: Db): MailTransport => ({
  async send({ from, to }, raw, { mayLeave } = {}) {
    if (mayLeave && !(await mayLeave())) return { kind: 'lost', reason: 'it is not to be sent' };
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

/** The mailbox is for looking at mails, not for keeping them. */
export async function deleteOldMessages({ db }: { db: Db }) {
  await db`
    delete from mailbox_messages
    where id in (
      select id from mailbox_messages order by received_at desc, id desc offset ${maxMails}
    )`;
}

/** As the message spells it, unfolded; the page that shows it decodes it. */
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

const atOnce = 50;

/** The messages in the built-in mailbox that match, by what they say once they are decoded. */
export async function findMessages(
  sql: Sql,
  matches: (text: string) => boolean,
): Promise<string[]> {
  const matching: string[] = [];
  for (let after: string | null = null; ; ) {
    const messages: { id: string; rcpt_to: string; raw: Buffer }[] = await sql<
      { id: string; rcpt_to: string; raw: Buffer }[]
    >`
      select id, rcpt_to, raw
      from mailbox_messages
      where ${after}::uuid is null or id > ${after}::uuid
      order by id
      limit ${atOnce}`;
    for (const { id, rcpt_to, raw } of messages) {
      if (matches(`${rcpt_to}\n${await wordsOf(raw)}`)) matching.push(id);
    }
    if (messages.length < atOnce) return matching;
    after = messages.at(-1)!.id;
  }
}

async function wordsOf(raw: Buffer): Promise<string> {
  const { subject = '', headers, text = '', html = '' } = await PostalMime.parse(raw);
  const head = headers.map(({ value }) => value).join('\n');
  return [subject, head, text, html].join('\n');
}

export async function deleteMessagesById(sql: Sql, ids: readonly string[]): Promise<number> {
  const { count } = await sql`delete from mailbox_messages where id = any (${[...ids]}::uuid[])`;
  return count;
}

/** Deletes what came for an address that an organization has erased, unless it was allowed again since. */
export async function deleteMessagesToErased(sql: Sql, orgId: string, erasureId: string) {
  await sql`
    delete from mailbox_messages m
    using erasures e
    join organizations o on o.id = e.org_id
    where e.org_id = ${orgId} and e.id = ${erasureId} and e.allowed_at is null
      and keyed_hash(o.address_key, m.rcpt_to) = e.address_hash`;
}
