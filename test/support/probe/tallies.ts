import assert from 'node:assert/strict';
import type { Sql } from '../../../src/lib/db/db.ts';

/** Compares every kept total with what the rows themselves come to. */
export async function assertTalliesHold(sql: Sql) {
  const [kept, counted] = [await keptTallies(sql), await countRows(sql)];
  assert.deepEqual(kept, counted);
  assert.deepEqual(await keptAsked(sql), await countAsked(sql));
  assert.deepEqual(await wrongHours(sql), []);
}

/** Hours that are read, since their day has one row, and are not what the responses of the survey or organization say. */
const wrongHours = async (sql: Sql) =>
  plain(
    await sql<Row[]>`
    with kept as (
      select survey_id as of, day, slot, by_half_hour from day_tallies
      union all
      select org_id, day, slot, by_half_hour from organization_day_tallies
    ), counted as (
      select of, (created_at at time zone 'UTC')::date as day, created_at, category
      from responses
      cross join lateral (values (survey_id), (org_id)) v (of)
      where held_reason is null
    )
    select k.of, k.day, k.by_half_hour
    from kept k
    where k.by_half_hour is not null
      and not exists (select from kept o where o.of = k.of and o.day = k.day and o.slot <> k.slot)
      and k.by_half_hour <> array(
        select count(*) filter (where half_hour_of(r.created_at) < half)::int
        from generate_series(1, 47) half
        cross join (values ('promoter', 1), ('passive', 2), ('detractor', 3)) c (category, place)
        left join counted r on r.of = k.of and r.category = c.category and r.day = k.day
        group by half, place
        order by half, place)`,
  );

type Row = Record<string, unknown>;
const plain = (rows: readonly Row[]) => rows.map((row) => ({ ...row }));

async function keptTallies(sql: Sql) {
  return plain(
    await sql<Row[]>`
    select 'survey' as of, survey_id::text as id, null::text as day,
           sum(promoters)::int as promoters, sum(passives)::int as passives,
           sum(detractors)::int as detractors, sum(score_sum)::int as score_sum,
           sum(contacts)::int as contacts, sum(sent)::int as sent, sum(responded)::int as responded
    from survey_tallies
    group by survey_id
    having (sum(promoters), sum(passives), sum(detractors), sum(contacts)) <> (0, 0, 0, 0)
    union all
    select 'survey', survey_id::text, day::text, sum(promoters)::int, sum(passives)::int, sum(detractors)::int,
           sum(score_sum)::int, sum(contacts)::int, null, null
    from day_tallies
    group by survey_id, day
    having (sum(promoters), sum(passives), sum(detractors), sum(contacts)) <> (0, 0, 0, 0)
    union all
    select 'organization', org_id::text, day::text, sum(promoters)::int, sum(passives)::int, sum(detractors)::int,
           null, sum(contacts)::int, null, null
    from organization_day_tallies
    group by org_id, day
    having (sum(promoters), sum(passives), sum(detractors), sum(contacts)) <> (0, 0, 0, 0)
    order by 1, 2, 3`,
  );
}

const keptAsked = async (sql: Sql) =>
  plain(
    await sql<Row[]>`
    select survey_id, quarter, sum(asked)::int as asked, sum(undelivered)::int as undelivered,
           sum(answered)::int as answered
    from asked_tallies
    group by survey_id, quarter
    having (sum(asked), sum(undelivered), sum(answered)) <> (0, 0, 0)
    order by 1, 2`,
  );

const countAsked = async (sql: Sql) =>
  plain(
    await sql<Row[]>`
    select survey_id, to_timestamp(floor(extract(epoch from sent_at) / 900) * 900) as quarter,
           count(*)::int as asked, count(*) filter (where status in ('failed', 'bounced'))::int as undelivered,
           count(responded_at)::int as answered
    from contacts
    where sent_at is not null
    group by 1, 2
    order by 1, 2`,
  );

async function countRows(sql: Sql) {
  return plain(
    await sql<Row[]>`
    with counted as (
      select org_id, survey_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
             (category = 'promoter')::int as promoter, (category = 'passive')::int as passive,
             (category = 'detractor')::int as detractor, score, 0 as contact, 0 as sent, 0 as responded
      from responses
      where held_reason is null
      union all
      select org_id, survey_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD'), 0, 0, 0, 0, 1,
             (sent_at is not null)::int, (responded_at is not null)::int
      from contacts
    )
    select case when grouping(survey_id) = 0 then 'survey' else 'organization' end as of,
           coalesce(survey_id, org_id)::text as id, day,
           sum(promoter)::int as promoters, sum(passive)::int as passives,
           sum(detractor)::int as detractors,
           case when grouping(survey_id) = 0 then sum(score)::int end as score_sum,
           sum(contact)::int as contacts,
           case when grouping(day) = 1 then sum(sent)::int end as sent,
           case when grouping(day) = 1 then sum(responded)::int end as responded
    from counted
    group by grouping sets ((survey_id), (survey_id, day), (org_id, day))
    order by 1, 2, 3`,
  );
}
