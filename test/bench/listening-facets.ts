import type { Db, Sql } from '../../src/lib/db/db.ts';
import { foldTallies } from '../../src/surveys/queries.ts';

export const ownerAddress = 'owner@bench.test';
/** Of one statement; as many of these run at once as there are processors to spare. */
const daysAtOnce = 50;
const countsAtOnce = 2;

/**
 * Properties, languages, sentiments, owners, and a tag on every fiftieth answer. Triggers rest and indexes are built
 * later, so the facets are counted out here.
 */
export async function addFacets(sql: Sql) {
  await sql`
    update contacts
    set properties = jsonb_build_object(
      'plan', (array['free', 'pro', 'team', 'enterprise'])[1 + abs(hashtext(token)) % 4],
      'country', (array['DE', 'FR', 'US', 'GB', 'NL', 'ES', 'IT', 'SE', 'PL', 'AT'])[1 + abs(hashtext(email)) % 10],
      'source', 'shop',
      'number', abs(hashtext(email || token)))`;
  await addOwner(sql);
  await sql`
    update responses
    set language = (array['en', 'de', 'fr'])[1 + abs(hashtext(id::text)) % 3],
        properties = case when contact_id is null then '{"source": "shop"}'::jsonb end,
        owner_id = case when hashtext(id::text) % 40 = 1 then
          (select member_id from memberships where org_id = responses.org_id) end`;
  await sql`
    insert into response_tags (org_id, response_id, tag_id)
    select r.org_id, r.id, t.id
    from responses r
    join (select distinct on (org_id) org_id, id from tags order by org_id, name) t using (org_id)
    where hashtext(r.id::text) % 50 = 0`;
  await sql`
    insert into analyses (org_id, response_id, sentiment, provider)
    select org_id, id, (array['positive', 'neutral', 'negative', 'mixed'])[1 + abs(hashtext(id::text || 's')) % 4], 'bench'
    from responses
    where comment is not null`;
  await addResponseFacets(sql);
}

const addOwner = (sql: Sql) => sql`
  with owner as (insert into members (email, name) values (${ownerAddress}, 'Ann') returning id)
  insert into memberships (org_id, member_id, role)
  select distinct on (n) orgs.id, owner.id, 'editor' from orgs, owner order by n`;

/** Without their key while they come in: it is built at once too. */
async function addResponseFacets(sql: Sql) {
  const [key] = await sql<{ definition: string }[]>`
    select pg_get_constraintdef(oid) as definition from pg_constraint where conname = 'response_facets_pkey'`;
  await sql`alter table response_facets drop constraint response_facets_pkey`;
  await sql`drop index response_facets_by_response`;
  await sql`
    insert into response_facets (org_id, facet, created_at, response_id, survey_id, category, score)
    select r.org_id, f, r.created_at, r.id, r.survey_id, r.category, r.score
    from responses r
    left join contacts c on c.id = r.contact_id
    left join analyses a on a.org_id = r.org_id and a.response_id = r.id
    left join response_tags t on t.org_id = r.org_id and t.response_id = r.id
    cross join lateral (
      select property_facets(coalesce(c.properties, r.properties))
      union all
      select facet_of('tag', '', t.tag_id::text) where t.tag_id is not null
      union all
      select facet_of('sentiment', '', a.sentiment) where a.sentiment is not null
    ) facets (f)`;
  await sql.unsafe(
    `alter table response_facets add constraint response_facets_pkey ${key!.definition}`,
  );
  await sql`create index response_facets_by_response on response_facets (org_id, response_id)`;
}

/** What the service counts in the hour after a day, here several days at the same time. */
export async function countDays(db: Db) {
  const chunks = await db<{ org_id: string; days: string[] }[]>`
    select org_id, array_agg(day::text) as days
    from (
      select org_id, day, (row_number() over (partition by org_id order by day) - 1) / ${daysAtOnce}::int as chunk
      from organization_day_tallies
      where day < current_date
    ) placed
    group by org_id, chunk`;
  const waiting = [...chunks];
  await Promise.all(
    Array.from({ length: countsAtOnce }, async () => {
      for (let chunk = waiting.pop(); chunk; chunk = waiting.pop()) await countChunk(db, chunk);
    }),
  );
  await foldTallies(db);
  await db`vacuum analyze`;
}

async function countChunk(db: Db, { org_id, days }: { org_id: string; days: string[] }) {
  await db`
    update organization_day_tallies t
    set by_half_hour = counted.by_half_hour
    from half_hours_of_days(${org_id}, null, ${days}::text[]::date[]) counted
    where t.org_id = ${org_id} and t.day = counted.day and t.promoters + t.passives + t.detractors >= 24`;
  await db`call tally_facets(${org_id}, ${days}::text[]::date[])`;
}
