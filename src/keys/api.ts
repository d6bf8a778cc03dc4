import { Hono } from 'hono';
import * as v from 'valibot';
import type { Part, Sql } from '../lib/db/db.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Count, described, Id, Moment, One } from '../lib/paging/page.ts';
import type { OrgId } from '../limits.ts';
import type { ApiEnv, KeyTools } from './authenticate.ts';
import { createReader, type ReplicaTools } from './read.ts';

export function accountReads(tools: KeyTools & ReplicaTools) {
  const { answer } = createReader(tools);
  const requestsPerMinute = tools.settings.rateLimit;
  return new Hono<ApiEnv>()
    .get('/me', (c) =>
      answer(c, 'key', (orgId) =>
        keyAccount(tools.db, orgId, { keyId: c.var.key.id, requestsPerMinute }),
      ),
    )
    .get('/usage', (c) => answer(c, 'usage', (orgId) => usageJson(tools.db, orgId)));
}

type KeyContext = { keyId: string; requestsPerMinute: number };

const keyAccount = (sql: Sql, orgId: OrgId, { keyId, requestsPerMinute }: KeyContext): Part => sql`(
  select json_build_object('data', json_build_object(
           'organization', json_build_object('id', o.id, 'name', o.name),
           'key', json_build_object('id', k.id, 'name', k.name, 'permission', k.permission,
                                    'expires_at', iso(k.expires_at)),
           'limits', json_build_object('requests_per_minute', ${requestsPerMinute}::int,
                                       'mails_per_month', o.monthly_send_limit),
           'usage', json_build_object('mails_this_month', ${mailsOfMonth(sql, orgId)})))::text
  from organizations o
  join api_keys k on k.org_id = o.id and k.id = ${keyId}
  where o.id = ${orgId}
)`;

const usageJson = (sql: Sql, orgId: OrgId): Part => sql`(
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

const KeyAccount = v.object({
  organization: v.object({ id: Id, name: v.string() }),
  key: v.object({
    id: Id,
    name: v.string(),
    permission: v.picklist(['read', 'write']),
    expires_at: described(v.nullable(Moment), 'null if the key does not expire'),
  }),
  limits: v.object({ requests_per_minute: Count, mails_per_month: Count }),
  usage: v.object({ mails_this_month: Count }),
});

const Usage = v.object({
  month: described(v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/)), 'the calendar month in UTC'),
  mails_sent: described(Count, 'in this month'),
  mails_limit: Count,
  mails_remaining: Count,
  responses: described(Count, 'in total, without responses on hold'),
  contacts: described(Count, 'in total'),
});

export const accountSection: ApiSection = {
  name: 'Account',
  about: 'The API key of the request, its organization, and usage against the limits.',
  schemas: { KeyAccount, Usage },
  operations: {
    'get /api/v1/me': {
      id: 'getMe',
      summary: 'Get the current API key and its organization',
      about: 'A cheap way to check whether a key works and what it may do.',
      answer: {
        about: 'the key, its organization and limits',
        schema: One(KeyAccount),
      },
    },
    'get /api/v1/usage': {
      id: 'getUsage',
      summary: 'Get the current usage',
      about: "The month's emails against the limit, and the total of responses and contacts.",
      answer: { about: 'the usage', schema: One(Usage) },
    },
  },
};
