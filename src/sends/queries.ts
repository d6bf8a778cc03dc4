import { markOutcome } from '../contacts/queries.ts';
import { isDue } from '../contacts/rounds.ts';
import { notFound } from '../errors.ts';
import type { MailSender, SurveyMail } from '../letters/letter.ts';
import { type Db, one, type Part, type Sql } from '../lib/db/db.ts';
import { deleteRows } from '../lib/db/delete-in-batches.ts';
import { maxLogDays } from '../organizations/manage.ts';
import { giveBackUsage } from '../organizations/queries.ts';
import { suppressBounced } from '../suppressions/bounces.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { maxReminderDays, type Reminder } from '../surveys/schemas.ts';
import type { TextsByLanguage } from '../surveys/texts.ts';
import { type AddressFacts, type BlockReason, maxMailAgeMs, type OutcomeRow } from './rules.ts';

/**
 * Loads the facts for the rules in one statement. Scalar subqueries look up the mails: a plan made while the table was
 * small, or before it was analyzed, must not read all mails of a survey.
 */
export async function loadFacts(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  {
    keys,
    frequencyDays,
    at,
  }: { keys: readonly string[]; frequencyDays: number | null; at: Date | null },
) {
  return await sql<AddressFacts[]>`
    select a.key,
           (select status from mails
            where org_id = ${orgId} and survey_id = ${surveyId} and email_key = a.key and round = c.round
              and reminder = 0 and blocks_resend) as claim,
           c.id is not null and (c.sent_at is not null or c.responded_at is not null) as mailed_or_answered,
           coalesce(${isDue(sql, at)}, false) as is_due,
           (select max(kind) from suppressions where org_id = ${orgId} and email = a.key) as suppressed,
           (select exists (select from erasures where org_id = ${orgId} and allowed_at is null))
             and exists (select from erasures
                         where org_id = ${orgId} and address_hash = address_hash(${orgId}, a.key)
                           and allowed_at is null) as erased,
           recent.at as recent_at
    from unnest(${[...keys]}::text[]) as a (key)
    join surveys s on s.org_id = ${orgId} and s.id = ${surveyId}
    join organizations o on o.id = s.org_id
    left join contacts c
      on c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.email_key = a.key and not c.superseded
    left join lateral (
      select max(coalesce(finished_at, claimed_at)) as at
      from mails
      where org_id = ${orgId} and email_key = a.key and reminder = 0 and blocks_resend
        and claimed_at > now() - make_interval(days => ${frequencyDays}::int)
    ) recent on true`;
}

/**
 * Claims addresses for a request or a campaign batch. An address that another request has claimed gets no row here:
 * the unique index is the duplicate protection.
 */
export async function insertClaims(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  {
    claims,
    requestId,
    month,
    traceparent,
    awaited,
    reminder,
  }: {
    requestId: string;
    month: string;
    traceparent: string | null;
    /** True if a request waits for the outcomes. */
    awaited: boolean;
    reminder: number;
    claims: readonly { contact_id: string; email: string; reminds_of?: string | undefined }[];
  },
) {
  return await sql<{ id: string; contact_id: string }[]>`
    insert into mails (org_id, survey_id, contact_id, round, email, reminds_of, request_id, month, traceparent,
                       awaited, reminder)
    select ${orgId}, ${surveyId}, contact_id,
           (select round from contacts where org_id = ${orgId} and survey_id = ${surveyId} and id = contact_id),
           email, reminds_of, ${requestId}, ${month}::date, ${traceparent}, ${awaited}, ${reminder}
    from unnest(${claims.map(({ contact_id }) => contact_id)}::uuid[],
                ${claims.map(({ email }) => email)}::text[],
                ${claims.map(({ reminds_of }) => reminds_of ?? null)}::uuid[])
           as c (contact_id, email, reminds_of)
    order by lower(email)
    on conflict do nothing
    returning id, contact_id`;
}

/** Records blocked emails, each at most once a day. */
export async function insertBlocked(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  blocked: readonly { email: string; reason_code: string; reason: string }[],
) {
  await sql`
    insert into blocked_mails (org_id, survey_id, email, reason_code, reason)
    select ${orgId}, ${surveyId}, email, reason_code, reason
    from json_to_recordset(${JSON.stringify(blocked)}::text::json)
      as b (email text, reason_code text, reason text)
    order by email
    on conflict do nothing`;
}

/** True if emails of the request have no outcome yet. */
export async function hasOpenMails(sql: Sql, orgId: string, requestId: string) {
  const { open } = one(
    await sql<{ open: boolean }[]>`
      select exists (select from mails
                     where org_id = ${orgId} and request_id = ${requestId} and status in ('claimed', 'sending')) as open`,
  );
  return open;
}

export type SendResult = {
  key: string;
  status: 'claimed' | 'sending' | 'sent' | 'failed' | 'unknown';
  reason: string | null;
  reason_code: string | null;
};

export async function listResults(sql: Sql, orgId: string, requestId: string) {
  return await sql<SendResult[]>`
    select email_key as key, status, reason, reason_code
    from mails
    where org_id = ${orgId} and request_id = ${requestId}`;
}

export type MailContent = {
  survey: SurveyMail['survey'] & { texts: TextsByLanguage; reminders: readonly Reminder[] };
  organization: MailSender;
};

type OpenMail = {
  id: string;
  org_id: string;
  survey_id: string;
  request_id: string;
  email: string;
  status: 'claimed' | 'sending';
  name: string | null;
  token: string;
  properties: Readonly<Record<string, unknown>>;
  attempts: number;
  traceparent: string | null;
  awaited: boolean;
  reminder: number;
  reminds_of: string | null;
  claimed_ms_ago: number;
};

export type ClaimedMail = OpenMail & MailContent;

export type WrittenMail = MailContent &
  Pick<
    OpenMail,
    'id' | 'org_id' | 'email' | 'name' | 'token' | 'properties' | 'reminder' | 'reminds_of'
  >;

/**
 * Lists the mails of a job that have no outcome yet. Lateral joins look rows up one by one: a plan made while the
 * tables were small, or before they were analyzed, must not read a whole organization for each mail.
 */
export async function listOpenMails(sql: Sql, orgId: string, ids: readonly string[]) {
  return await sql<OpenMail[]>`
    select s.id, s.org_id, s.survey_id, s.request_id, s.email, s.status, s.attempts, s.traceparent,
           s.awaited, s.reminder, s.reminds_of, ${age(sql)} as claimed_ms_ago, c.name, c.token, c.properties
    from unnest(${[...ids]}::uuid[]) as m (id)
    cross join lateral (select * from mails where org_id = ${orgId} and id = m.id limit 1) s
    cross join lateral (select * from contacts where org_id = ${orgId} and id = s.contact_id limit 1) c
    where s.status in ('claimed', 'sending')`;
}

const age = (sql: Sql) => sql`(extract(epoch from now() - s.claimed_at) * 1000)::float8`;

export async function listMailContents(sql: Sql, orgId: string, surveyIds: readonly string[]) {
  return await sql<MailContent[]>`
    select json_build_object('id', v.id, 'type', v.type, 'audience', v.audience,
                             'question_text', v.question_text, 'subject', v.subject,
                             'intro', v.intro, 'texts', v.texts, 'reminders', v.reminders, 'language', v.language,
                             'from_name', v.from_name, 'from_email', v.from_email,
                             'reply_to', v.reply_to) as survey,
           ${sender(sql)} as organization
    from surveys v
    join organizations o on o.id = v.org_id
    where v.org_id = ${orgId} and v.id = any (${[...surveyIds]}::uuid[])`;
}

export async function findMailSender(sql: Sql, orgId: string) {
  const [row] = await sql<{ organization: MailSender }[]>`
    select ${sender(sql)} as organization from organizations o where o.id = ${orgId}`;
  if (!row) throw notFound('organization');
  return row.organization;
}

const sender = (sql: Sql) => sql`
  json_build_object('id', o.id, 'name', o.name, 'color', o.color, 'logo', o.logo, 'mail_foot', o.mail_foot,
                    'postal_address', o.postal_address)`;

/**
 * Marks mails as `sending` before their first byte goes out, and returns the id and attempt number of each mail that
 * may be sent. An outcome is recorded only for that attempt. A contact that has unsubscribed, bounced or answered since
 * the claim gets no email.
 */
export async function beginMails(sql: Sql, mails: readonly { org_id: string; id: string }[]) {
  return await sql<{ id: string; attempts: number }[]>`
    update mails s
    set status = 'sending', sending_at = now(), attempts = s.attempts + 1
    from ${byKey(sql, mails)}
    where s.org_id = m.org_id and s.id = m.id and s.status = 'claimed' and ${blockOf(sql)} is null
    returning s.id, s.attempts`;
}

export async function listBlocked(sql: Sql, mails: readonly { org_id: string; id: string }[]) {
  return await sql<{ id: string; by: BlockReason }[]>`
    select s.id, ${blockOf(sql)} as by
    from ${byKey(sql, mails)}
    join mails s on s.org_id = m.org_id and s.id = m.id
    where s.status = 'claimed' and ${blockOf(sql)} is not null`;
}

/** Wrapped in selects: with plain array parameters Postgres would replan each call with a few mails. */
const byKey = (sql: Sql, mails: readonly { org_id: string; id: string }[]) => sql`
  unnest((select ${mails.map(({ org_id }) => org_id)}::uuid[]), (select ${mails.map(({ id }) => id)}::uuid[]))
    as m (org_id, id)`;

/** Reason that blocks a mail, as scalar subqueries: their plans never read whole tables. */
const blockOf = (sql: Sql) => sql`
  coalesce(
    (select max(k.kind) from suppressions k where k.org_id = s.org_id and k.email = s.email_key),
    (select 'answered' from contacts c
     where c.org_id = s.org_id and c.id = s.contact_id and c.responded_at is not null))`;

/** Locks the months that get quota back. Call it before locking contacts, because sends lock in the same order. */
export async function lockMonths(sql: Sql, ids: readonly string[]) {
  await sql`
    -- all organizations
    select from mail_usage u
    where exists (
      select from mails s
      where s.id = any (${[...ids]}::uuid[]) and s.org_id = u.org_id and s.month = u.month
    )
    order by u.org_id, u.month
    for no key update of u`;
}

/**
 * Saves outcomes in mails and contacts. A failed mail returns its quota, and an address that does not exist is
 * suppressed. A mail that will be retried becomes claimed again, and a mail that never began can fail while it is
 * claimed.
 */
export async function saveOutcomes(sql: Sql, outcomes: readonly OutcomeRow[]) {
  await sql`
    with written as (
      update mails s
      set status = o.status, reason = o.reason, reason_code = o.reason_code, server_reply = o.server_reply,
          blocks_resend = o.status <> 'failed',
          finished_at = case when o.status <> 'claimed' then now() end
      from unnest(${outcomes.map(({ id }) => id)}::uuid[],
                  ${outcomes.map(({ org_id }) => org_id)}::uuid[],
                  ${outcomes.map(({ attempt }) => attempt)}::smallint[],
                  ${outcomes.map(({ status }) => status)}::text[],
                  ${outcomes.map(({ reason }) => reason)}::text[],
                  ${outcomes.map(({ reason_code }) => reason_code)}::text[],
                  ${outcomes.map(({ server_reply }) => server_reply ?? null)}::text[],
                  ${outcomes.map(({ contact_status }) => contact_status)}::text[],
                  ${outcomes.map(({ failure_reason }) => failure_reason)}::text[])
        as o (id, org_id, attempt, status, reason, reason_code, server_reply, contact_status, failure_reason)
      where s.org_id = o.org_id and s.id = o.id and s.attempts = o.attempt
        and (s.status = 'sending' or (s.status = 'unknown' and o.status <> 'claimed')
             or (s.status = 'claimed' and o.status = 'failed'))
      returning s.org_id, s.contact_id, s.email, s.month, s.status, s.reason,
                o.contact_status, o.failure_reason
    ), marked as (
      ${markOutcome(
        sql,
        sql`select org_id, contact_id, contact_status, failure_reason,
                   case when status = 'sent' then now() end
            from written
            where status <> 'claimed' and contact_status is not null`,
      )}
    ), given_back as (
      ${giveBackUsage(
        sql,
        sql`select org_id, month, count(*) from written where status = 'failed' group by 1, 2`,
      )}
    )
    ${suppressBounced(
      sql,
      sql`select org_id, email, reason from written where contact_status = 'bounced'`,
    )}`;
}

export async function saveDeferralReason(
  sql: Sql,
  orgId: string,
  { ids, reason }: { ids: readonly string[]; reason: string },
) {
  await sql`
    update mails s
    set reason = ${reason}
    from ${byKey(
      sql,
      ids.map((id) => ({ org_id: orgId, id })),
    )}
    where s.org_id = m.org_id and s.id = m.id and s.status = 'claimed' and s.reason is distinct from ${reason}`;
}

export type EndedMail = Pick<
  OpenMail,
  'id' | 'org_id' | 'survey_id' | 'attempts' | 'traceparent' | 'claimed_ms_ago'
>;

/**
 * A failed mail returns its quota. A reminder does not change its contact, because the contact already has the survey.
 */
const endMails = (
  sql: Sql,
  status: 'failed' | 'unknown',
  { picked, reason }: { picked: Part; reason: string | Part },
) => sql<EndedMail[]>`
  -- organization: caller
  with ended as (
    update mails s
    set status = ${status}, blocks_resend = ${status !== 'failed'}, reason = ${reason},
        reason_code = ${status === 'failed' ? 'deadline' : 'unknown_outcome'}, finished_at = now()
    ${picked}
    returning s.*
  ), marked as (
    ${markOutcome(
      sql,
      sql`select org_id, contact_id, 'failed', reason, null::timestamptz from ended where reminder = 0`,
    )}
  ), given_back as (
    ${giveBackUsage(
      sql,
      sql`select org_id, month, count(*) from ended where status = 'failed' group by 1, 2`,
    )}
  )
  select s.id, s.org_id, s.survey_id, s.attempts, s.traceparent, ${age(sql)} as claimed_ms_ago from ended s`;

/** Marks mails as unknown if an earlier run of the job began them and died before it recorded their outcome. */
export async function markBegunUnknown(
  sql: Sql,
  orgId: string,
  ids: readonly string[],
  reason: string,
) {
  const picked = sql`
    from unnest(${ids.map(() => orgId)}::uuid[], ${[...ids]}::uuid[]) as m (org_id, id)
    where s.org_id = m.org_id and s.id = m.id and s.status = 'sending'`;
  return await endMails(sql, 'unknown', { picked, reason });
}

/** Emails of all organizations that were open in the backup may have been sent since. */
export async function markUnknownAfterRestore(sql: Sql) {
  const picked = sql`where s.status in ('claimed', 'sending')`;
  const reason = 'restored from a backup: it may have been sent since, so it is not sent again';
  await endMails(sql, 'unknown', { picked, reason });
}

export async function cancelClaims(sql: Sql, orgId: string, requestId: string, reason: string) {
  const picked = sql`where s.org_id = ${orgId} and s.request_id = ${requestId} and s.status = 'claimed'`;
  return await endMails(sql, 'failed', { picked, reason });
}

/** Deletes mails that have not begun, so that their addresses can be claimed again. */
export async function withdrawClaims(sql: Sql, orgId: string, requestIds: readonly string[]) {
  return await sql<{ request_id: string; contact_id: string }[]>`
    delete from mails
    where org_id = ${orgId} and request_id = any (${[...requestIds]}::uuid[]) and status = 'claimed'
    returning request_id, contact_id`;
}

/** Lists claimed mails of failed jobs that must not be sent any more, because of their age or their closed survey. */
export async function listExpiredMails(sql: Sql, seconds: number) {
  const mails = await sql<{ id: string }[]>`
    select s.id
    from ${failedJobs(sql, seconds)}
    cross join lateral json_array_elements_text(j.payload -> 'mail_ids') as m (id)
    cross join lateral (select * from mails where org_id = (j.payload ->> 'org_id')::uuid and id = m.id::uuid limit 1) s
    join surveys v on v.org_id = s.org_id and v.id = s.survey_id
    where s.status = 'claimed' and ${isExpired(sql)}
    limit 10000`;
  return mails.map(({ id }) => id);
}

export async function endExpiredMails(sql: Sql, ids: readonly string[]) {
  const picked = sql`
    from surveys v
    where s.id = any (${[...ids]}::uuid[]) and v.org_id = s.org_id and v.id = s.survey_id
      and s.status = 'claimed' and ${isExpired(sql)}`;
  const reason = sql`
    case when v.completed_by = 'hand' then 'not sent: the survey was closed' else 'could not be sent within a day' end`;
  return await endMails(sql, 'failed', { picked, reason });
}

const isExpired = (sql: Sql) => sql`
  (v.completed_by = 'hand' or s.claimed_at < now() - make_interval(secs => ${maxMailAgeMs / 1000}))`;

/** Restarts mail jobs that used up their attempts so many seconds ago that no process still works on them. */
export async function restartFailedJobs(sql: Sql, seconds: number) {
  const { count } = await sql`
    select from graphile_worker.reschedule_jobs(
      array(select j.id from ${failedJobs(sql, seconds)}),
      attempts => 0)`;
  return count;
}

const failedJobs = (sql: Sql, seconds: number) => sql`
  (select j.*
   from graphile_worker._private_jobs j
   join graphile_worker._private_tasks t on t.id = j.task_id
   where t.identifier = 'sends.mail' and j.attempts >= j.max_attempts and j.locked_at is null
     and j.updated_at < now() - make_interval(secs => ${seconds})) j`;

export const cleanUpBlockedMails = ({ db }: { db: Db }) =>
  deleteRows(
    db,
    'blocked_mails',
    db`blocked_on < (now() at time zone 'UTC')::date - ${maxLogDays}::int`,
  );

/**
 * Deletes old mails of a survey. Keeps unknown mails, so that no address is mailed twice. Also keeps mails that a
 * reminder may follow, and mails of a batch that is not counted yet.
 */
export async function deleteOldMails(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { days, atMost }: { days: number; atMost: number },
): Promise<number> {
  const { count } = await sql`
    -- organization: caller
    delete from mails
    where org_id = ${orgId} and id in (
      select m.id
      from mails m
      join surveys s on s.org_id = m.org_id and s.id = m.survey_id
      where m.org_id = ${orgId} and m.survey_id::text = ${surveyId}::text
        and m.claimed_at < now() - make_interval(days => ${days}::int)
        and m.finished_at < now() - make_interval(days => ${days}::int)
        and m.status in ('sent', 'failed')
        and (s.reminders = '[]' or m.finished_at < now() - make_interval(days => ${maxReminderDays + 1}::int))
        and not exists (select from campaign_batches b where b.id = m.request_id and b.ended_at is null)
      order by m.claimed_at
      limit ${atMost}
      for update of m skip locked
    )`;
  return count;
}

export async function deleteBlockedOnDay(
  sql: Sql,
  orgId: string,
  { daysAgo }: { daysAgo: number },
): Promise<number> {
  const { count } = await sql`
    delete from blocked_mails
    where org_id = ${orgId} and blocked_on = (now() at time zone 'UTC')::date - ${daysAgo}::int`;
  return count;
}

/** Call this before locking the contacts, because recording outcomes locks mails before contacts. */
export async function lockContactMails(sql: Sql, orgId: string, contactIds: readonly string[]) {
  await sql`
    select from mails
    where org_id = ${orgId} and contact_id = any (${[...contactIds]}::uuid[])
    order by id
    for update`;
}

/** Returns the quota of mails that have not begun. Call this before they are deleted. */
export async function giveBackClaims(sql: Sql, orgId: string, contactIds: readonly string[]) {
  await sql`${giveBackUsage(
    sql,
    sql`select org_id, month, count(*) from mails
        where org_id = ${orgId} and contact_id = any (${[...contactIds]}::uuid[]) and status = 'claimed'
        group by 1, 2`,
  )}`;
}

export async function deleteBlockedMailsTo(
  sql: Sql,
  orgId: string,
  { key, before }: { key: string; before: Date | null },
): Promise<number> {
  const { count } = await sql`
    delete from blocked_mails
    where org_id = ${orgId} and email_key = ${key}
      and blocked_at < coalesce(${before}::timestamptz, 'infinity')`;
  return count;
}
