import { type DelayedCampaign, listDelayed } from '../campaigns/queries.ts';
import { one, type Sql } from '../lib/db/db.ts';
import type { SurveyType } from '../survey-types.ts';
import type { ManagedSurvey } from '../surveys/queries.ts';
import { isTroubled } from '../webhooks/queries.ts';
import { attentionDays } from './rules.ts';

export type MeasuredSurvey = Pick<ManagedSurvey, 'id' | 'name' | 'type' | 'audience'>;

export type HomeSetting = {
  surveys: MeasuredSurvey[];
  survey_count: number;
  kinds: { type: SurveyType; audience: 'employee' | 'customer'; responses: number }[];
};

const maxSurveys = 12;

export async function findHomeSetting(sql: Sql, orgId: string): Promise<HomeSetting> {
  return one(
    await sql<HomeSetting[]>`
      with counted as materialized (
        select s.id, s.name, s.type, s.audience, s.created_at,
               coalesce(sum(t.promoters + t.passives + t.detractors), 0)::int as responses
        from surveys s
        left join survey_tallies t on t.survey_id = s.id and t.org_id = ${orgId}
        where s.org_id = ${orgId}
        group by s.id
      )
      select (select count(*)::int from counted) as survey_count,
             (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'type', type, 'audience', audience)
                     order by responses desc, created_at desc, id desc), '[]')
              from (select * from counted order by responses desc, created_at desc, id desc limit ${maxSurveys}) first) as surveys,
             (select coalesce(json_agg(kind order by responses desc, type, audience), '[]')
              from (
                select type, coalesce(audience, 'customer') as audience, sum(responses)::int as responses
                from counted
                group by 1, 2
              ) kind) as kinds`,
  );
}

export type AttentionCounts = {
  held: number;
  open_detractors: number;
  oldest_open: string | null;
  /** The first day of `open_detractors`, in the organization's time zone. */
  open_since: string;
  mails_used: number;
  monthly_send_limit: number;
  mails_sent: number;
  mails_failed: number;
  bounced: number;
  webhooks: { id: string; url: string; active: boolean; failure_count: number }[];
  /** Campaigns delayed by the mail server. */
  campaigns: readonly DelayedCampaign[];
};

const maxWebhooks = 5;
const openSince = (sql: Sql) =>
  sql`((now() at time zone o.time_zone)::date - ${attentionDays.detractors}::int)`;
const mailsSince = (sql: Sql) => sql`now() - make_interval(days => ${attentionDays.mails}::int)`;

export const maxCounted = 1_000;

export async function findAttention(sql: Sql, orgId: string): Promise<AttentionCounts> {
  const [counts, campaigns] = await Promise.all([
    countAttention(sql, orgId),
    listDelayed(sql, orgId),
  ]);
  return { ...counts, campaigns };
}

async function countAttention(sql: Sql, orgId: string) {
  return one(
    await sql<Omit<AttentionCounts, 'campaigns'>[]>`
  select (select count(*)::int from responses where org_id = ${orgId} and held_reason is not null) as held,
         unowned.count as open_detractors, iso(unowned.oldest) as oldest_open,
         ${openSince(sql)}::text as open_since,
         coalesce((select used from mail_usage
                   where org_id = ${orgId} and month = date_trunc('month', now() at time zone 'UTC')::date), 0) as mails_used,
         o.monthly_send_limit, mails.sent as mails_sent, mails.failed as mails_failed,
         (select count(*)::int from suppressions
          where org_id = ${orgId} and kind = 'bounced' and created_at > ${mailsSince(sql)}) as bounced,
         (select coalesce(json_agg(json_build_object(
                   'id', id, 'url', url, 'active', active, 'failure_count', failure_count)
                 order by active, created_at desc), '[]')
          from (
            select *
            from webhooks
            where org_id = ${orgId} and ${isTroubled(sql)}
            order by active, created_at desc
            limit ${maxWebhooks}
          ) troubled) as webhooks
  from organizations o
  cross join lateral (
    select count(*) filter (where m.status = 'sent')::int as sent,
           count(*) filter (where m.status in ('failed', 'unknown'))::int as failed
    from surveys s
    join mails m on m.survey_id = s.id and m.claimed_at > ${mailsSince(sql)}
    where s.org_id = ${orgId} and m.org_id = ${orgId}
  ) mails
  cross join lateral (
    select count(*)::int as count, min(created_at) as oldest
    from (
      select created_at
      from responses
      where org_id = ${orgId} and held_reason is null and state = 'open' and category = 'detractor'
        and owner_id is null and created_at >= ${openSince(sql)}::timestamp at time zone o.time_zone
      limit ${maxCounted}
    ) newest
  ) unowned
  where o.id = ${orgId}`,
  );
}
