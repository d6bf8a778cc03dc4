import { one, type Sql } from '../lib/db/db.ts';

export type NewMessage = { from: string; to: string; subject: string; raw: Buffer };

export async function insertMessage(sql: Sql, { from, to, subject, raw }: NewMessage) {
  return one(
    await sql<{ id: string }[]>`
      insert into mailbox_messages (mail_from, rcpt_to, subject, raw)
      values (${from}, ${to}, ${subject}, ${raw})
      returning id`,
  ).id;
}

export type MessageRow = {
  id: string;
  mail_from: string;
  rcpt_to: string;
  subject: string;
  received_at: Date;
};

/** A page of them, newest first, and one more if there are any. */
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

/** The newest this many are kept. */
export async function deleteMessages(sql: Sql, kept: number) {
  await sql`
    delete from mailbox_messages
    where id in (
      select id from mailbox_messages order by received_at desc, id desc offset ${kept}
    )`;
}
