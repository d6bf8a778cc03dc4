import { type KnownPeople, knownPeople } from '../contacts/known.cte.ts';
import type { Sql } from '../lib/db/db.ts';
import type { SurveyType } from '../scores.ts';
import type { NotificationKind } from './rules.ts';

/** What the organization lets notifications show of a response. */
export type NotificationContents = {
  /** The name and address of its contact. */
  people: boolean;
  /** Its comment as it was written. */
  unedited: boolean;
};

export type StoredNotification = {
  org_id: string;
  member_id: string;
  kind: NotificationKind | 'digest';
  subject: string;
  email: string;
  member: string;
  organization: string;
  slug: string;
  time_zone: string;
} & NotificationContents;

/** Marks it as sent. Nothing comes back when it was sent before, is a day late, or is not wanted any more. */
export async function claimNotification(sql: Sql, orgId: string, id: string) {
  const [claimed] = await sql<StoredNotification[]>`
    update notifications n
    set sent_at = now()
    from notification_choices w, members m, organizations o
    where n.org_id = ${orgId} and n.id = ${id} and n.sent_at is null
      and n.created_at > now() - interval '1 day'
      and w.org_id = n.org_id and w.member_id = n.member_id
      and case n.kind when 'digest' then w.digest <> 'none' else n.kind = any(w.events) end
      and m.id = n.member_id and o.id = n.org_id
    returning n.org_id, n.member_id, n.kind, n.subject, m.email, m.name as member,
              o.name as organization, o.slug, w.time_zone, ${contents(sql)}`;
  return claimed;
}

/** What the organization `n.org_id` lets notifications show. */
export const contents = (sql: Sql) => sql`
  exists (select from notification_contents c where c.org_id = n.org_id and c.people) as people,
  exists (select from notification_contents c where c.org_id = n.org_id and c.unedited) as unedited`;

/** The mail server did not take it: the next try of the job may. */
export async function releaseNotification(sql: Sql, orgId: string, id: string) {
  await sql`update notifications set sent_at = null where org_id = ${orgId} and id = ${id}`;
}

export type AnswerFacts = KnownPeople & {
  survey: string;
  type: SurveyType;
  score: number;
  comment: string | null;
  contact_name: string | null;
  contact_email: string | null;
};

export async function findAnswer(sql: Sql, orgId: string, id: string) {
  const [found] = await sql<AnswerFacts[]>`
    select s.name as survey, s.type, r.score, r.comment, c.name as contact_name, c.email as contact_email,
           ${knownPeople(sql, 'contact')}
    from responses r
    join surveys s on s.org_id = r.org_id and s.id = r.survey_id
    join organizations o on o.id = r.org_id
    left join contacts c on c.org_id = r.org_id and c.survey_id = r.survey_id and c.id = r.contact_id
    where r.org_id = ${orgId} and r.id = ${id}`;
  return found;
}

export async function findWebhookOff(sql: Sql, orgId: string, id: string) {
  const [found] = await sql<{ url: string; reason: string }[]>`
    select url, deactivated_reason as reason
    from webhooks
    where org_id = ${orgId} and id = ${id} and not active and deactivated_reason is not null`;
  return found;
}

export async function findLimit(sql: Sql, orgId: string, month: string) {
  const [found] = await sql<{ used: number; most: number }[]>`
    select u.used, o.monthly_send_limit as most
    from mail_usage u
    join organizations o on o.id = u.org_id
    where u.org_id = ${orgId} and u.month = ${month}::date`;
  return found;
}

export async function findCampaign(sql: Sql, orgId: string, id: string) {
  const [found] = await sql<{ name: string; survey_id: string; survey: string; total: number }[]>`
    select c.name, c.survey_id, s.name as survey, c.total
    from campaigns c
    join surveys s on s.org_id = c.org_id and s.id = c.survey_id
    where c.org_id = ${orgId} and c.id = ${id}`;
  return found;
}
