import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noOwner, type ResponseFilter } from '../../src/responses/filter.queries.ts';
import { filterOf } from '../../src/responses/filter.ts';
import { findNext } from '../../src/responses/queries.ts';
import { makeWeeks, propertyFacets } from '../support/make/weeks.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const allResponses = filterOf({ tz: 'UTC', held: false, facets: [] });

/** Several responses have equal times, and each day begins with some at its first instant. */
async function makeScene() {
  const { org } = await makeWeeks(db, { responses: 840, together: 3, minutes: 96 });
  const [owner] = await db<{ id: string }[]>`
    insert into members (email, name) values (${`${org}@members.test`}, 'Ann') returning id`;
  await db`insert into memberships (org_id, member_id, role) values (${org}, ${owner!.id}, 'editor')`;
  await db`
    update responses
    set owner_id = case when (properties -> 'rare')::int < 30 then ${owner!.id}::uuid end,
        comment = case when score < 3 then 'Late again' end,
        chosen_state = case when (properties -> 'rare')::int % 3 = 0 then 'done' end
    where org_id = ${org}`;
  const shop = { facets: propertyFacets({ source: 'shop' }) };
  const filters: Partial<ResponseFilter>[] = [
    {},
    { language: 'fr' },
    { facets: propertyFacets({ rare: '5' }) },
    { held: true },
    { pattern: '%late%' },
    { ...shop, pattern: '%late%' },
    { ...shop, held: true },
    { ...shop, owner: noOwner },
    { ...shop, owner: `${org}@members.test` },
    shop,
    { ...shop, hasComment: false, state: 'done' },
    { facets: propertyFacets({ source: 'shop' }), language: 'fr' },
    { facets: propertyFacets({ source: 'shop', plan: 'pro' }), category: 'promoter' },
    { facets: propertyFacets({ source: 'shop', plan: 'free' }), type: 'ces', language: 'fr' },
    { facets: propertyFacets({ source: 'nowhere' }) },
    {
      facets: propertyFacets({ source: 'shop' }),
      range: { from: new Date('2024-03-10T07:00:00Z'), to: new Date('2024-03-15T19:00:00Z') },
    },
  ];
  return { org, filters: filters.map((filter) => ({ ...allResponses, ...filter })) };
}

test('previous and next follow the filtered list', async () => {
  const { org, filters } = await makeScene();
  await check(org, filters, 'at first');
  await db`
    update responses
    set language = 'fr'
    where org_id = ${org} and (created_at at time zone 'UTC')::date in ('2024-03-09', '2024-03-13', '2024-03-14')
      and held_reason is null and category = 'passive'`;
  await check(org, filters, 'after a change');
});

async function check(org: string, filters: readonly ResponseFilter[], when: string) {
  const all = await listed(org, allResponses);
  for (const filter of filters) {
    const list = await listed(org, filter);
    for (const { at, id } of all.filter((_, place) => place % 41 === 0)) {
      const found = await Promise.all(
        (['newer', 'older'] as const).map((way) =>
          findNext(db, org, { filter, position: { at, id } }, way),
        ),
      );
      const isNewer = (row: Listed) => row.at > at || (row.at === at && row.id > id);
      const expected = [
        list.findLast(isNewer)?.id,
        list.find((row) => row.id !== id && !isNewer(row))?.id,
      ];
      assert.deepEqual(found, expected, `${JSON.stringify(filter)} at ${at}, ${when}`);
    }
  }
}

type Listed = { at: string; id: string };

/** The list computed from the rows alone, newest first. */
async function listed(org: string, filter: ResponseFilter): Promise<Listed[]> {
  const { facets, category, language, type, range, pattern, held, owner, hasComment, state } =
    filter;
  const wanted = Object.fromEntries(facets.map(({ name, value }) => [name, value]));
  return await db<Listed[]>`
    select r.created_at::text as at, r.id
    from responses r
    join surveys s on s.id = r.survey_id
    where r.org_id = ${org} and (held_reason is not null) = ${held}
      and (${pattern}::text is null or comment ilike ${pattern}::text)
      and (${hasComment}::boolean is null or (comment is not null) = ${hasComment}::boolean)
      and (${state}::text is null or state = ${state}::text)
      and case ${owner}::text when ${noOwner} then owner_id is null else
          ${owner}::text is null or owner_id = (select id from members where email = ${owner}::text) end
      and (${type}::text is null or s.type = ${type}::text)
      and (${category}::text is null or category = ${category}::text)
      and (${language}::text is null or r.language = ${language}::text)
      and r.created_at >= coalesce(${range.from}::timestamptz, '-infinity')
      and r.created_at < coalesce(${range.to}::timestamptz, 'infinity')
      and not exists (
        select from jsonb_each_text(${JSON.stringify(wanted)}::text::jsonb) w
        where r.properties ->> w.key is distinct from w.value
      )
    order by r.created_at desc, r.id desc`;
}
