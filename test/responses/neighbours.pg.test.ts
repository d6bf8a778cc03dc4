import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allResponses, type ResponseFilter } from '../../src/responses/filter.cte.ts';
import { findNext } from '../../src/responses/neighbours.queries.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

const properties = (asked: Record<string, string>) =>
  Object.entries(asked).map(([name, value]) => ({ kind: 'property' as const, name, value }));

/** Three weeks of forty responses a day, several of them at the same time. */
async function makeScene() {
  const org = await makeOrganization(db);
  const surveys = [await makeSurvey(db, org), await makeSurvey(db, org, { type: 'ces' })] as const;
  await db`
    insert into responses (org_id, survey_id, score, category, properties, language, held_reason, created_at)
    select ${org}, (${[...surveys]}::uuid[])[1 + n % 2], 5, (array['promoter', 'passive', 'detractor'])[1 + n % 7 % 3],
           jsonb_build_object('source', 'shop', 'plan', (array['pro', 'free'])[1 + n % 5 % 2], 'rare', n % 97),
           case when n % 89 = 0 then 'fr' else 'en' end, case when n % 53 = 0 then 'hidden_link' end,
           '2024-03-06T00:00:00Z'::timestamptz + n / 3 * interval '107 minutes'
    from generate_series(0, 840) n`;
  const filters: Partial<ResponseFilter>[] = [
    ...[{}, { language: 'fr' }, { facets: properties({ rare: '5' }) }],
    { facets: properties({ source: 'shop' }), language: 'fr' },
    { facets: properties({ source: 'shop', plan: 'pro' }), category: 'promoter' },
    { facets: properties({ source: 'shop', plan: 'free' }), type: 'ces', language: 'fr' },
    { facets: properties({ source: 'nowhere' }) },
    {
      facets: properties({ source: 'shop' }),
      range: { from: new Date('2024-03-10T07:00:00Z'), to: new Date('2024-03-15T19:00:00Z') },
    },
  ];
  return { org, filters: filters.map((filter) => ({ ...allResponses, ...filter })) };
}

test('the response that comes next in a filtered list is that of the list, whatever is kept of its days', async () => {
  const { org, filters } = await makeScene();
  await check(org, filters, 'before days are counted');
  await foldTallies(db);
  const kept = await db`select from facet_days where org_id = ${org}`;
  assert.ok(kept.length > 15);
  await check(org, filters, 'after days are counted');
  await db`
    update responses
    set language = 'fr'
    where org_id = ${org} and (created_at at time zone 'UTC')::date in ('2024-03-09', '2024-03-13', '2024-03-14')
      and held_reason is null and score = 5 and category = 'passive'`;
  await check(org, filters, 'after a change');
});

async function check(org: string, filters: readonly ResponseFilter[], when: string) {
  const all = await listed(org, allResponses);
  for (const filter of filters) {
    const list = await listed(org, filter);
    for (const { at, id } of all.filter((_, place) => place % 41 === 0)) {
      const found = await Promise.all(
        (['newer', 'older'] as const).map((way) =>
          findNext(db, org, { filter, position: { at, id }, way }),
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

/** From the rows alone, newest first. */
async function listed(org: string, filter: ResponseFilter): Promise<Listed[]> {
  const { facets, category, language, type, range } = filter;
  const wanted = Object.fromEntries(facets.map(({ name, value }) => [name, value]));
  return await db<Listed[]>`
    select r.created_at::text as at, r.id
    from responses r
    join surveys s on s.id = r.survey_id
    where r.org_id = ${org} and held_reason is null
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
