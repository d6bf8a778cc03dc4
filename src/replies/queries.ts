import type * as v from 'valibot';
import type { Part, Sql } from '../lib/db/db.ts';
import { addressPattern } from '../lib/smtp/address.ts';
import type { TextsByLanguage } from '../surveys/texts.ts';
import type { Reply } from './schemas.ts';

/** A reply under its public names. Claimed and begun replies have the status `sending`. */
export type ShownReply = v.InferOutput<typeof Reply>;

/** Reply `p` as JSON. */
export const replyJson = (sql: Sql) => sql`
  json_build_object('id', p.id, 'text', p.text, 'author', p.author,
                    'status', case when p.status = 'claimed' then 'sending' else p.status end,
                    'reason', p.reason, 'created_at', iso(p.created_at), 'finished_at', iso(p.finished_at))`;

/** The replies to response `r`, oldest first. */
export const repliesJson = (sql: Sql): Part => sql`(
  select coalesce(json_agg(${replyJson(sql)} order by p.created_at, p.id), '[]')
  from replies p
  where p.org_id = r.org_id and p.response_id = r.id
)`;

type ReplyOf = { responseId: string; id: string };

export async function findReply(sql: Sql, orgId: string, { responseId, id }: ReplyOf) {
  const [row] = await sql<{ reply: ShownReply }[]>`
    select ${replyJson(sql)} as reply
    from replies p
    where p.org_id = ${orgId} and p.response_id = ${responseId} and p.id = ${id}`;
  return row?.reply;
}

/** Finds the recipient of a reply. Lock the response first, so that an erasure runs before or after. */
export async function findRecipient(sql: Sql, orgId: string, responseId: string) {
  const [recipient] = await sql<{ email: string | null; erased: boolean; replies: number }[]>`
    select c.email,
           c.email is not null
             and exists (select from erasures
                         where org_id = ${orgId} and address_hash = address_hash(${orgId}, c.email_key)
                           and allowed_at is null) as erased,
           (select count(*)::int from replies
            where org_id = ${orgId} and response_id = ${responseId}) as replies
    from responses r
    left join contacts c on c.org_id = r.org_id and c.id = r.contact_id
    where r.org_id = ${orgId} and r.id = ${responseId}`;
  return recipient;
}

export type NewReply = ReplyOf & {
  text: string;
  closes: boolean;
  author: string;
  author_kind: string;
};

/** Returns false if the form was sent before. */
export async function insertReply(sql: Sql, orgId: string, reply: NewReply): Promise<boolean> {
  const { id, responseId, text, closes, author, author_kind } = reply;
  const { count } = await sql`
    insert into replies (org_id, id, response_id, text, closes, author, author_kind)
    values (${orgId}, ${id}, ${responseId}, ${text}, ${closes}, ${author}, ${author_kind})
    on conflict (org_id, id) do nothing`;
  return count > 0;
}

export type OpenReply = {
  id: string;
  org_id: string;
  response_id: string;
  status: 'claimed' | 'sending';
  attempts: number;
  age_ms: number;
  text: string;
  author: string;
  author_kind: string;
  email: string;
  name: string | null;
  properties: Readonly<Record<string, unknown>>;
  /** The emails of the survey to this contact, oldest first. */
  thread: string[];
  survey: {
    question_text: string;
    subject: string | null;
    intro: string | null;
    language: string;
    texts: TextsByLanguage;
    from_name: string;
    from_email: string;
    reply_to: string;
  };
};

/** A reply without an outcome, and the parts of its email. */
export async function findOpenReply(sql: Sql, orgId: string, id: string) {
  const [reply] = await sql<OpenReply[]>`
    select p.id, p.org_id, p.response_id, p.status, p.attempts, p.text, p.author, p.author_kind,
           (extract(epoch from now() - p.created_at) * 1000)::float8 as age_ms,
           c.email, c.name, c.properties,
           array(select m.id from mails m
                 where m.org_id = ${orgId} and m.contact_id = c.id and m.status in ('sent', 'unknown')
                 order by m.claimed_at, m.id) as thread,
           json_build_object('question_text', v.question_text, 'subject', v.subject, 'intro', v.intro,
                             'language', v.language, 'texts', v.texts, 'from_name', v.from_name,
                             'from_email', v.from_email, 'reply_to', v.reply_to) as survey
    from replies p
    join responses r on r.org_id = p.org_id and r.id = p.response_id
    join contacts c on c.org_id = r.org_id and c.id = r.contact_id
    join surveys v on v.org_id = r.org_id and v.id = r.survey_id
    where p.org_id = ${orgId} and p.id = ${id} and p.status in ('claimed', 'sending')`;
  return reply;
}

type Attempt = Pick<OpenReply, 'id' | 'attempts'>;

/**
 * Marks a reply as begun before its first byte goes out. Returns false if another run has begun it since, or if an
 * erasure has deleted it.
 */
export async function beginReply(sql: Sql, orgId: string, { id, attempts }: Attempt) {
  const { count } = await sql`
    update replies
    set status = 'sending', sending_at = now(), attempts = attempts + 1
    where org_id = ${orgId} and id = ${id} and status = 'claimed' and attempts = ${attempts}`;
  return count > 0;
}

export type ReplyOutcome = {
  status: 'claimed' | 'sent' | 'failed' | 'unknown';
  reason: string | null;
  reason_code: string | null;
  server_reply: string | null;
};

/** Saves the outcome of an attempt. Returns undefined if the reply is gone or another run has begun it. */
export async function saveReplyOutcome(
  sql: Sql,
  orgId: string,
  { id, attempts }: Attempt,
  { status, reason, reason_code, server_reply }: ReplyOutcome,
): Promise<{ closes: boolean } | undefined> {
  const [saved] = await sql<{ closes: boolean }[]>`
    update replies
    set status = ${status}, reason = ${reason}, reason_code = ${reason_code}, server_reply = ${server_reply},
        finished_at = case when ${status} <> 'claimed' then now() end
    where org_id = ${orgId} and id = ${id} and attempts = ${attempts}
      and (status in ('claimed', 'sending') or (status = 'unknown' and ${status} <> 'claimed'))
    returning closes`;
  return saved;
}

export async function deleteRepliesTo(sql: Sql, orgId: string, responseIds: readonly string[]) {
  const { count } = await sql`
    delete from replies
    where org_id = ${orgId} and response_id = any (${[...responseIds]}::uuid[])`;
  return count;
}

/** Replaces an address with `[email]` in replies to other people. */
export async function hideInReplies(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
): Promise<number> {
  const { count } = await sql`
    update replies
    set text = hide_address(text, ${key})
    where org_id = ${orgId} and created_at < coalesce(${before}::timestamptz, 'infinity')
      and text ~* ${addressPattern(key)}`;
  return count;
}

export async function deleteOldReplies(
  sql: Sql,
  orgId: string,
  { days, atMost }: { days: number; atMost: number },
): Promise<number> {
  const { count } = await sql`
    delete from replies
    where org_id = ${orgId} and id in (
      select id
      from replies
      where org_id = ${orgId} and created_at < now() - make_interval(days => ${days}::int)
      limit ${atMost}
    )`;
  return count;
}
