import assert from 'node:assert/strict';
import type { Sql } from '../../../src/lib/db/db.ts';

/** Compares every stored total with the rows. */
export async function assertTalliesHold(sql: Sql) {
  const [kept, counted] = [await storedTallies(sql), await countRows(sql)];
  assert.deepEqual(kept, counted);
  assert.deepEqual(await keptAsked(sql), await countAsked(sql));
}

type Row = Record<string, unknown>;
const plain = (rows: readonly Row[]) => rows.map((row) => ({ ...row }));

async function storedTallies(sql: Sql) {
  return plain(
    await sql<Row[]>`
    select survey_id::text as id, null::timestamptz as hour,
           sum(promoters)::int as promoters, sum(passives)::int as passives,
           sum(detractors)::int as detractors, sum(score_sum)::int as score_sum,
           sum(contacts)::int as contacts, sum(sent)::int as sent, sum(responded)::int as responded
    from survey_tallies
    group by survey_id
    having (sum(promoters), sum(passives), sum(detractors), sum(contacts)) <> (0, 0, 0, 0)
    union all
    select survey_id::text, hour, sum(promoters)::int, sum(passives)::int, sum(detractors)::int,
           sum(score_sum)::int, sum(contacts)::int, null, null
    from hour_tallies
    group by survey_id, hour
    having (sum(promoters), sum(passives), sum(detractors), sum(contacts)) <> (0, 0, 0, 0)
    order by 1, 2`,
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
      select survey_id, date_trunc('hour', created_at, 'UTC') as hour,
             (category = 'promoter')::int as promoter, (category = 'passive')::int as passive,
             (category = 'detractor')::int as detractor, score, 0 as contact, 0 as sent, 0 as responded
      from responses
      where held_reason is null
      union all
      select survey_id, date_trunc('hour', created_at, 'UTC'), 0, 0, 0, 0, 1,
             (sent_at is not null)::int, (responded_at is not null)::int
      from contacts
    )
    select survey_id::text as id, hour,
           sum(promoter)::int as promoters, sum(passive)::int as passives,
           sum(detractor)::int as detractors,
           sum(score)::int as score_sum,
           sum(contact)::int as contacts,
           case when grouping(hour) = 1 then sum(sent)::int end as sent,
           case when grouping(hour) = 1 then sum(responded)::int end as responded
    from counted
    group by grouping sets ((survey_id), (survey_id, hour))
    order by 1, 2`,
  );
}
