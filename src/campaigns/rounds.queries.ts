import { askedAt, zoneOfRounds } from '../contacts/rounds.ts';
import { notFound } from '../errors.ts';
import { one, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgId } from '../limits.ts';
import { filterOfAudience, peopleMatching } from '../people/audience.ts';
import type { PeopleFilter } from '../people/filter.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import type { Repeat, SendWindow } from '../surveys/schemas.ts';
import { cycleTables, openDays } from './cycle.ts';
import type { AskableContact } from './judge.ts';

export type RepeatingSurvey = {
  repeat: Repeat;
  send_window: SendWindow | null;
  zone: string;
  frequency_days: number | null;
  campaign_id: string | null;
  /** Filter of the audience. Null if the survey asks the contacts that were asked before. */
  people: PeopleFilter | null;
};

/** `repeating` is undefined if the survey has no rounds, is a draft, or was closed by hand. */
export async function findRepeating(sql: Sql, { orgId, surveyId }: OrgSurvey) {
  const [survey] = await sql<
    (Omit<RepeatingSurvey, 'people' | 'repeat'> & { repeat: Repeat | null })[]
  >`
    select case when s.status <> 'draft' and s.completed_by is distinct from 'hand' then s.repeat end as repeat,
           s.send_window, ${zoneOfRounds(sql)} as zone, o.frequency_days,
           (select id from campaigns where org_id = ${orgId} and survey_id = ${surveyId} and kind = 'round') as campaign_id
    from surveys s
    join organizations o on o.id = s.org_id
    where s.org_id = ${orgId} and s.id = ${surveyId}`;
  if (!survey) throw notFound('survey');
  const { repeat, zone } = survey;
  if (!repeat) return { zone };
  const people = repeat.audience ? await filterOfAudience(sql, orgId, repeat.audience) : null;
  return { zone, repeating: { ...survey, repeat, people } };
}

/**
 * The CTEs up to `planned`: contacts in rounds with the local time at which each is asked next. A contact that a round
 * has asked keeps its place in the cycle. Others get a place by a stable hash. Their cycle starts when they are due, or
 * when `repeat` was set if that was later. For people new to the audience it starts when they were added. A later round
 * that began without an email is due at once.
 */
function planned(sql: Sql, { orgId, surveyId }: OrgSurvey, survey: RepeatingSurvey): Part {
  const { repeat, send_window: window, campaign_id, people } = survey;
  const { next, rest, shifted } = cycleTables(openDays(window), repeat.every_days);
  const perWeek = next[0]!.length;
  const perCycle = perWeek * Math.floor(repeat.every_days / 7);
  const table = (rows: readonly (number | readonly number[])[]) =>
    sql`${JSON.stringify(rows).replaceAll('[', '{').replaceAll(']', '}')}::text::int[]`;
  const closes = window?.to ?? '24:00';
  return sql`
    base as materialized (
      select c.id, c.email, c.email_key, c.round, w.id is not null as placed, s.zone,
             case when a.asked_at is null then c.created_at at time zone s.zone
                  else (a.asked_at at time zone s.zone) + make_interval(days => ${repeat.every_days}) end as earliest,
             a.asked_at is null and c.round > 1 as begun,
             date_trunc('day', s.repeat_since at time zone s.zone) as since
      from (select s.repeat_since, ${zoneOfRounds(sql)} as zone
            from surveys s join organizations o on o.id = s.org_id
            where s.org_id = ${orgId} and s.id = ${surveyId}) s
      cross join contacts c
      cross join lateral (select ${askedAt(sql)} as asked_at) a
      left join campaign_contacts w on w.org_id = ${orgId} and w.contact_id = c.id and w.campaign_id = ${campaign_id}::uuid
      where c.org_id = ${orgId} and c.survey_id = ${surveyId} and not c.superseded and c.status <> 'sending'
        and (a.asked_at is not null or ${people ? sql`true` : sql`c.round > 1`} and (w.id is null or w.reason_code is not null))
        ${people ? sql`and ${isInAudience(sql, orgId, people)}` : sql``}
    ), moved as materialized (
      select b.*, case when placed or begun or not ${repeat.spread} then earliest else greatest(earliest, since) end as start
      from base b
    ), opened as materialized (
      select m.*, case when start::time >= ${closes}::time then date_trunc('day', start) + interval '1 day' else start end as day
      from moved m
    ), planned as materialized (
      select id, email, email_key, round, zone,
             case when begun then day
                  when not ${repeat.spread} then day + make_interval(days => (${table(next)})[extract(isodow from day)::int][1])
                  when placed then day + make_interval(days => (${table(shifted)})[extract(isodow from day)::int])
                  else day + make_interval(
                    days => place.at / ${perWeek}::int * 7
                            + (${table(next)})[extract(isodow from day)::int][place.at % ${perWeek}::int + 1])
             end as local_at
      from opened
      cross join lateral (
        select ((hashtextextended(${surveyId}::text || email_key, 0) & 9223372036854775807)
                % (${perCycle}::int + (${table(rest)})[extract(isodow from day)::int]))::int as at
      ) place
    )`;
}

const isInAudience = (sql: Sql, orgId: OrgId, people: PeopleFilter) => sql`
  c.email_key in (select p.email_key from ${peopleMatching(sql, orgId, people)})`;

/** Time of the latest email to the address of `p` that the frequency rule counts. */
const recentAt = (sql: Sql, orgId: string, frequencyDays: number | null) => sql`
  (select max(coalesce(m.finished_at, m.claimed_at)) from mails m
   where m.org_id = ${orgId} and m.email_key = p.email_key and m.reminder = 0 and m.blocks_resend
     and m.claimed_at > now() - make_interval(days => ${frequencyDays}::int))`;

const isSuppressed = (sql: Sql, orgId: string) => sql`
  exists (select from suppressions x where x.org_id = ${orgId} and x.email = p.email_key)`;

/**
 * Lists contacts whose round is due, the longest due first. A contact that a rule blocks is listed once, so that the
 * reason is recorded, and again when the rule no longer blocks it.
 */
export async function listDueRounds(
  sql: Sql,
  survey: OrgSurvey,
  { repeating, now, atMost }: { repeating: RepeatingSurvey; now: Date; atMost: number },
) {
  const { orgId, surveyId } = survey;
  const { frequency_days: frequencyDays } = repeating;
  const isBlocked = sql`(${isSuppressed(sql, orgId)} or ${recentAt(sql, orgId, frequencyDays)} is not null)`;
  const isRecorded = sql`
    exists (select from blocked_mails b
            where b.org_id = ${orgId} and b.email_key = p.email_key and b.survey_id = ${surveyId}
              and b.blocked_on >= (p.local_at at time zone p.zone at time zone 'UTC')::date)`;
  return await sql<AskableContact[]>`
    with ${planned(sql, survey, repeating)}
    select p.id, p.email, p.email_key as key
    from planned p
    where p.local_at at time zone p.zone <= ${now}::timestamptz
      and not (${isBlocked} and ${isRecorded})
    order by p.local_at, p.id
    limit ${atMost}`;
}

export async function countInRounds(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { people }: RepeatingSurvey,
): Promise<number> {
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count
      from contacts
      where org_id = ${orgId} and survey_id = ${surveyId} and not superseded
        and (round > 1 or status <> 'pending' or ${people !== null})`,
  ).count;
}

export async function countAsked(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  { zone, now }: { zone: string; now: Date },
): Promise<number> {
  return one(
    await sql<{ count: number }[]>`
      select count(*)::int as count
      from campaigns c
      join campaign_contacts w on w.org_id = c.org_id and w.campaign_id = c.id
      where c.org_id = ${orgId} and c.survey_id = ${surveyId} and c.kind = 'round' and w.reason_code is null
        and w.created_at >= date_trunc('day', ${now}::timestamptz at time zone ${zone}) at time zone ${zone}`,
  ).count;
}

/** Counts contacts by the day of their next round. Overdue contacts count on the first day. */
export async function countByDay(
  sql: Sql,
  survey: OrgSurvey,
  { repeating, today, days }: { repeating: RepeatingSurvey; today: string; days: number },
) {
  const { orgId } = survey;
  const { frequency_days: frequencyDays } = repeating;
  return await sql<{ date: string; count: number }[]>`
    with ${planned(sql, survey, repeating)}, askable as (
      select case when ${frequencyDays}::int is null then p.local_at
                  else greatest(p.local_at, (${recentAt(sql, orgId, frequencyDays)}
                                             + make_interval(days => ${frequencyDays}::int)) at time zone p.zone) end as at
      from planned p
      where p.local_at < ${today}::date + ${days}::int and not ${isSuppressed(sql, orgId)}
    )
    select greatest(at::date, ${today}::date)::text as date, count(*)::int as count
    from askable
    where at < ${today}::date + ${days}::int
    group by 1`;
}

/** Contacts that a rule blocked earlier may be enrolled again. */
export async function forgetBlocked(
  sql: Sql,
  { orgId, campaignId }: { orgId: string; campaignId: string },
  contactIds: readonly string[],
) {
  await sql`
    delete from campaign_contacts
    where org_id = ${orgId} and campaign_id = ${campaignId} and contact_id = any (${[...contactIds]}::uuid[])
      and reason_code is not null`;
}
