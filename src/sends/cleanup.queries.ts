import type { Sql } from '../lib/db/db.ts';

type OldBlockedMails = { days: number; atMost: number };

export async function deleteOldBlockedMails(sql: Sql, { days, atMost }: OldBlockedMails) {
  const { count } = await sql`
    delete from blocked_mails
    where (org_id, email_key, survey_id, reason_code, blocked_on) in (
      select org_id, email_key, survey_id, reason_code, blocked_on
      from blocked_mails
      where blocked_on < (now() at time zone 'UTC')::date - ${days}::int
      order by blocked_on
      limit ${atMost}
      for update skip locked
    )`;
  return count;
}

type MailsOfSurvey = { orgId: string; surveyId: string };

/** How long a survey that reminds needs its mails. */
const reminderDays = 61;

/**
 * Deletes mails of a survey that ended before so many days. What is unknown stays, because it keeps the address from
 * being mailed twice; so do mails that a reminder may still follow, and those of a batch that is not counted yet.
 */
export async function deleteOldMails(
  sql: Sql,
  { orgId, surveyId }: MailsOfSurvey,
  { days, atMost }: OldBlockedMails,
): Promise<number> {
  const { count } = await sql`
    delete from mails
    where org_id = ${orgId} and id in (
      select m.id
      from mails m
      join surveys s on s.org_id = m.org_id and s.id = m.survey_id
      where m.org_id = ${orgId} and m.survey_id::text = ${surveyId}::text
        and m.claimed_at < now() - make_interval(days => ${days}::int)
        and m.finished_at < now() - make_interval(days => ${days}::int)
        and m.status in ('sent', 'failed')
        and (s.reminders = '[]' or m.finished_at < now() - make_interval(days => ${reminderDays}::int))
        and not exists (select from campaign_batches b where b.id = m.request_id and b.ended_at is null)
      order by m.claimed_at
      limit ${atMost}
      for update of m skip locked
    )`;
  return count;
}

/** The blocked mails of an organization of one day. */
export async function deleteBlockedOf(
  sql: Sql,
  orgId: string,
  { daysAgo }: { daysAgo: number },
): Promise<number> {
  const { count } = await sql`
    delete from blocked_mails
    where org_id = ${orgId} and blocked_on = (now() at time zone 'UTC')::date - ${daysAgo}::int`;
  return count;
}
