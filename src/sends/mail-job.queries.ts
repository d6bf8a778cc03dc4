import type { MailSender } from '../letters/mail.ts';
import { lockTimeout, type Sql } from '../lib/db/db.ts';
import type { SurveyType } from '../scores.ts';
import type { Reminder } from '../surveys/asking.schemas.ts';
import type { TextsByLanguage } from '../surveys/texts.ts';
import type { BlockReason } from './rules.ts';

/** A claimed mail with everything that its letter is written from. */
export type ClaimedMail = {
  id: string;
  org_id: string;
  survey_id: string;
  request_id: string;
  email: string;
  name: string | null;
  token: string;
  attempts: number;
  traceparent: string | null;
  awaited: boolean;
  reminder: number;
  reminds_of: string | null;
  claimed_ms_ago: number;
  /** Of the contact; only read when the survey's words depend on them. */
  properties?: Readonly<Record<string, unknown>>;
  survey: {
    type: SurveyType;
    audience: 'employee' | null;
    name: string;
    question_text: string;
    subject: string | null;
    intro: string | null;
    language: string;
    texts: TextsByLanguage;
    from_name: string;
    from_email: string;
    reply_to: string;
    reminders?: readonly Reminder[];
  };
  organization: Omit<MailSender, 'id'>;
};

export type MailWords = Pick<ClaimedMail, 'survey' | 'organization'>;
export type SurveyWords = MailWords & { survey_id: string };
export type OpenMail = Omit<ClaimedMail, keyof MailWords | 'properties'> & {
  status: 'claimed' | 'sending';
};

/**
 * The mails of a job that have no outcome yet. They are joined by their keys: a plan made while the table
 * was small, or before it was analyzed, must not read all mails of an organization.
 */
export async function listOpenMails(sql: Sql, orgId: string, ids: readonly string[]) {
  return await sql<OpenMail[]>`
    select s.id, s.org_id, s.survey_id, s.request_id, s.email, s.status, s.attempts, s.traceparent,
           s.awaited, s.reminder, s.reminds_of, (extract(epoch from now() - s.claimed_at) * 1000)::float8 as claimed_ms_ago, c.name, c.token
    from unnest(${ids.map(() => orgId)}::uuid[], ${[...ids]}::uuid[]) as m (org_id, id)
    join mails s on s.org_id = m.org_id and s.id = m.id
    join contacts c on c.org_id = s.org_id and c.survey_id = s.survey_id and c.id = s.contact_id
    where s.status in ('claimed', 'sending')`;
}

/** The words of surveys and organizations that their mails are written from. */
export async function listMailWords(sql: Sql, orgId: string, surveyIds: readonly string[]) {
  return await sql<SurveyWords[]>`
    select v.id as survey_id,
           json_build_object('type', v.type, 'audience', v.audience, 'name', v.name,
                             'question_text', v.question_text, 'subject', v.subject,
                             'intro', v.intro, 'texts', v.texts, 'reminders', v.reminders, 'language', v.language,
                             'from_name', v.from_name,
                             'from_email', v.from_email, 'reply_to', v.reply_to) as survey,
           json_build_object('name', o.name, 'color', o.color, 'logo', o.logo, 'mail_foot', o.mail_foot,
                             'postal_address', o.postal_address) as organization
    from surveys v
    join organizations o on o.id = v.org_id
    where v.org_id = ${orgId} and v.id = any (${[...surveyIds]}::uuid[])`;
}

/** The properties of the contacts of mails. */
export async function listMailProperties(
  sql: Sql,
  mails: readonly { org_id: string; id: string }[],
) {
  return await sql<{ id: string; properties: Record<string, unknown> }[]>`
    select s.id, c.properties
    from ${byKey(sql, mails)}
    join mails s on s.org_id = m.org_id and s.id = m.id
    join contacts c on c.org_id = s.org_id and c.survey_id = s.survey_id and c.id = s.contact_id`;
}

/**
 * Marks mails as `sending` before their first byte goes out and returns those that may still be sent, with
 * the attempt number. An outcome is recorded only for that attempt. A contact that has unsubscribed,
 * bounced or answered since the claim is not mailed. It fails when a lock is not free within `lockMs`; 0 waits.
 */
export async function beginMails(
  sql: Sql,
  mails: readonly { org_id: string; id: string }[],
  lockMs = 0,
) {
  return await sql<{ id: string; attempts: number }[]>`
    with patience as (${lockTimeout(sql, lockMs)})
    update mails s
    set status = 'sending', sending_at = now(), attempts = s.attempts + 1
    from patience, ${byKey(sql, mails)}
    where s.org_id = m.org_id and s.id = m.id and s.status = 'claimed' and ${blockOf(sql)} is null
    returning s.id, s.attempts`;
}

/** The claimed mails that are blocked by now, each with the reason. */
export async function listBlocked(sql: Sql, mails: readonly { org_id: string; id: string }[]) {
  return await sql<{ id: string; by: BlockReason }[]>`
    select s.id, ${blockOf(sql)} as by
    from ${byKey(sql, mails)}
    join mails s on s.org_id = m.org_id and s.id = m.id
    where s.status = 'claimed' and ${blockOf(sql)} is not null`;
}

/** The arrays are selected: Postgres would plan each call with a few mails again if `unnest` had them as parameters. */
const byKey = (sql: Sql, mails: readonly { org_id: string; id: string }[]) => sql`
  unnest((select ${mails.map(({ org_id }) => org_id)}::uuid[]), (select ${mails.map(({ id }) => id)}::uuid[]))
    as m (org_id, id)`;

/** Why a mail is blocked, as scalar subqueries: no plan for them reads whole tables. */
const blockOf = (sql: Sql) => sql`
  coalesce(
    (select max(k.kind) from suppressions k where k.org_id = s.org_id and k.email = s.email_key),
    (select 'answered' from contacts c
     where c.org_id = s.org_id and c.id = s.contact_id and c.responded_at is not null))`;
