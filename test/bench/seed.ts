import { type Db, one, type Sql } from '../../src/lib/db/db.ts';

export type Size = {
  organizations: number;
  responses: number;
  contacts: number;
  /** The share of the first organization in all contacts and answers. The others split the rest. */
  largePart?: number;
};

/** The word to search for, which is in a few comments of the large organization. */
export const rareWord = 'zugzwang';

const usualLargePart = 0.55;
const surveysOfLarge = 20;
export const surveysOfOthers = 5;
const days = 730;
const phrases = 20_000;

/**
 * Fills an empty database with a few statements. Triggers and checks are disabled: the tallies are computed from the
 * rows and compared at the end. `addMore` runs before the indexes are created.
 */
export async function seed(db: Db, size: Size, addMore?: (sql: Sql) => Promise<void>) {
  await db.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`set local maintenance_work_mem = '512MB'`;
    await sql`set local work_mem = '256MB'`;
    await sql`select setseed(0.5)`;
    const indexes = await dropIndexes(sql, ['contacts', 'responses']);
    await addOrganizations(sql, size);
    await addContacts(sql, size);
    await addAnswers(sql, size);
    await addTallies(sql);
    await addMore?.(sql);
    for (const { indexdef } of indexes) await sql.unsafe(indexdef);
  });
  await db`vacuum analyze`;
  await compareTallies(db);
}

/** Building an index at the end takes a fraction of the time of inserting row by row. */
async function dropIndexes(sql: Sql, tables: readonly string[]) {
  const indexes = await sql<{ indexname: string; indexdef: string }[]>`
    select indexname, indexdef
    from pg_indexes
    where schemaname = 'public' and tablename = any(${tables as string[]})
      and not exists (select from pg_constraint where conname = indexname)`;
  for (const { indexname } of indexes) await sql`drop index ${sql(indexname)}`;
  return indexes;
}

async function addOrganizations(sql: Sql, { organizations }: Size) {
  await sql`
    create temp table orgs on commit drop as
    select n, gen_random_uuid() as id from generate_series(1, ${organizations}::int) n`;
  await sql`insert into organizations (id, name, slug) select id, 'Organization ' || n, 'organization-' || n from orgs`;
  await sql`
    insert into tags (org_id, name, color)
    select id, 'tag ' || t, '#2f6fed' from orgs, generate_series(1, 12) t`;
  await sql`
    create temp table places on commit drop as
    select o.n as org, o.id as org_id, place, gen_random_uuid() as survey_id
    from orgs o, generate_series(1, case when n = 1 then ${surveysOfLarge}::int else ${surveysOfOthers}::int end) place`;
  await sql`
    insert into surveys (id, org_id, name, question_text, from_name, from_email, reply_to, share_id, created_at)
    select survey_id, org_id, 'Survey ' || place, 'How likely are you to recommend us?', 'Ann',
           'ann@acme.test', 'ann@acme.test', replace(survey_id::text, '-', ''),
           now() - make_interval(days => ${days}::int, mins => place)
    from places`;
}

/** The organization and survey of the i-th of n rows. */
const spread = (sql: Sql, { organizations, largePart = usualLargePart }: Size, n: number) => sql`
  select i, case when i <= ${Math.round(n * largePart)}::int then 1
                 else 2 + i % ${organizations - 1}::int end as org
  from generate_series(1, ${n}::int) i`;

const placeOf = (sql: Sql) => sql`
  1 + (s.i / 211) % case when s.org = 1 then ${surveysOfLarge}::int else ${surveysOfOthers}::int end`;

async function addContacts(sql: Sql, size: Size) {
  await sql`
    create temp table people on commit drop as
    select gen_random_uuid() as id, p.org_id, p.survey_id, s.i, s.i % 20 as kind,
           now() - random() * ${days}::int * interval '1 day' as created_at,
           row_number() over (partition by p.survey_id) as number
    from (${spread(sql, size, size.contacts)}) s
    join places p on p.org = s.org and p.place = ${placeOf(sql)}`;
  await sql`
    insert into contacts (id, org_id, survey_id, email, name, status, token, sent_at, responded_at, created_at)
    select id, org_id, survey_id, first || '.' || last || i || '@' || last || '.example', first || ' ' || last,
           case when kind < 15 then 'responded' when kind < 18 then 'sent' else 'pending' end,
           'token' || i, case when kind < 18 then created_at end, case when kind < 15 then created_at end,
           created_at
    from people,
         lateral (select (array['ada','ben','chloe','dmitri','elena','farid','grace','hugo'])[1 + i % 8] as first,
                         (array['moreau','schmidt','tanaka','okafor','rossi','novak','silva'])[1 + i % 7] as last) names`;
}

async function addAnswers(sql: Sql, size: Size) {
  await sql`
    create temp table comments on commit drop as
    select p, (select string_agg(word, ' ') from (
                 select (${vocabulary}::text[])[1 + floor(random() * ${vocabulary.length}::int)::int] as word
                 from generate_series(1, 6 + p % 12)) w) as comment
    from generate_series(0, ${phrases - 1}::int) p`;
  await sql`create index on people (survey_id, number)`;
  await sql`analyze people`;
  await sql`
    create temp table given on commit drop as
    select i, org_id, survey_id, id as contact_id, 'link' as source, created_at from people where kind < 15`;
  const left = one(
    await sql<{ n: number }[]>`select ${size.responses}::int - count(*)::int as n from given`,
  ).n;
  await sql`
    insert into given
    select s.i, p.org_id, p.survey_id, c.id, case when c.id is null then 'share' else 'import' end,
           now() - random() * ${days}::int * interval '1 day'
    from (${spread(sql, size, left)}) s
    join places p on p.org = s.org and p.place = ${placeOf(sql)}
    left join people c on c.survey_id = p.survey_id and s.i % 2 = 0 and c.number = 1 + s.i % 150`;
  await sql`
    insert into responses (org_id, survey_id, contact_id, source, score, category, comment, created_at)
    select org_id, survey_id, contact_id, source, score,
           case when score >= 9 then 'promoter' when score >= 7 then 'passive' else 'detractor' end,
           case when i % 9 < 4 then comment || case when i % 90000 = 2 then ${` ${rareWord}`} else '' end end, g.created_at
    from given g
    cross join lateral (select (array[10,9,8,10,7,9,3,10,6,9,8,0,5])[1 + i % 13]::smallint as score) s
    join comments on p = i % ${phrases}::int`;
}

const vocabulary =
  'the a and to of it we was for with very really support delivery price quality product team fast slow helpful invoice package colour size broken missing great good poor excellent terrible again never always order shop online mobile app login password refund exchange service staff friendly waiting hours days weeks late early happy unhappy recommend friend family quick answer question easy difficult'.split(
    ' ',
  );

async function addTallies(sql: Sql) {
  await sql`
    insert into survey_tallies (org_id, survey_id, slot, promoters, passives, detractors, score_sum, contacts, sent, responded)
    select org_id, survey_id, 0, sum(promoters), sum(passives), sum(detractors), sum(score_sum), sum(contacts), sum(sent), sum(responded)
    from (${counted(sql)}) each
    group by org_id, survey_id`;
  await sql`
    insert into hour_tallies (org_id, survey_id, hour, slot, promoters, passives, detractors, score_sum, contacts)
    select org_id, survey_id, hour, 0, sum(promoters), sum(passives), sum(detractors), sum(score_sum), sum(contacts)
    from (${counted(sql)}) each
    group by org_id, survey_id, hour
    order by hour`;
  await sql`
    insert into asked_tallies (org_id, survey_id, quarter, slot, asked, undelivered, answered)
    select org_id, survey_id, quarter_of(sent_at), 0, count(*), count(*) filter (where is_undelivered(status)), count(responded_at)
    from contacts
    where sent_at is not null
    group by 1, 2, 3`;
}

const counted = (sql: Sql) => sql`
  select org_id, survey_id, hour_of(created_at) as hour,
         count(*) filter (where category = 'promoter') as promoters,
         count(*) filter (where category = 'passive') as passives,
         count(*) filter (where category = 'detractor') as detractors,
         sum(score) as score_sum, 0 as contacts, 0 as sent, 0 as responded
  from responses
  group by 1, 2, 3
  union all
  select org_id, survey_id, hour_of(created_at), 0, 0, 0, 0,
         count(*), count(sent_at), count(responded_at)
  from contacts
  group by 1, 2, 3`;

async function compareTallies(sql: Sql) {
  const [wrong] = await sql`
    select rows, surveys, hours
    from (select count(*) as rows, sum(score) as scores from responses) r,
         (select sum(promoters + passives + detractors) as surveys, sum(score_sum) as scores from survey_tallies) s,
         (select sum(promoters + passives + detractors) as hours from hour_tallies) h
    where (surveys, hours, s.scores) is distinct from (rows, rows, r.scores)`;
  if (wrong) throw new Error(`the tallies differ from the rows: ${JSON.stringify(wrong)}`);
}
