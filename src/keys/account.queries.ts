import type { Part, Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';

/** The key that a read was made with, its organization, and what both may do, as the API shows them. */
export const keyAccount = (sql: Sql, orgId: OrgId, requestsPerMinute: number): Part => sql`(
  select json_build_object('data', json_build_object(
           'organization', json_build_object('id', o.id, 'name', o.name),
           'key', json_build_object('id', k.id, 'name', k.name, 'permission', k.permission,
                                    'expires_at', iso(k.expires_at)),
           'limits', json_build_object('requests_per_minute', ${requestsPerMinute}::int,
                                       'mails_per_month', o.monthly_send_limit),
           'usage', json_build_object('mails_this_month', ${mailsOfMonth(sql, orgId)})))::text
  from organizations o
  join api_keys k on k.org_id = o.id and k.id = (select id from live)
  where o.id = ${orgId}
)`;

/** What an organization has used of its month, and how much it has in all. */
export const usageJson = (sql: Sql, orgId: OrgId): Part => sql`(
  select json_build_object('data', json_build_object(
           'month', to_char(now() at time zone 'UTC', 'YYYY-MM'),
           'mails_sent', used, 'mails_limit', monthly_send_limit,
           'mails_remaining', greatest(monthly_send_limit - used, 0),
           'responses', responses, 'contacts', contacts))::text
  from (select monthly_send_limit, ${mailsOfMonth(sql, orgId)} as used from organizations where id = ${orgId}) o,
       (select coalesce(sum(promoters + passives + detractors), 0)::int as responses,
               coalesce(sum(contacts), 0)::int as contacts
        from survey_tallies
        where org_id = ${orgId}) totals
)`;

const mailsOfMonth = (sql: Sql, orgId: OrgId) => sql`
  coalesce((select used from mail_usage
            where org_id = ${orgId} and month = date_trunc('month', now() at time zone 'UTC')::date), 0)`;
