import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everything, type NpsScope } from '../../src/responses/filter.queries.ts';
import { readInstants } from '../../src/responses/period.ts';
import { readTrend } from '../../src/responses/trend.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeWeeks, propertyFacets } from '../support/make/weeks.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** Whose clocks change in these weeks, by an hour or by half of one, at midnight too; and whose days begin between half hours. */
const zones = [
  'UTC',
  'America/Los_Angeles',
  'America/Havana',
  'Europe/London',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
];
const ranges = [
  ['2024-03-08', '2024-04-08'],
  ['2024-03-09T05:17:00Z', '2024-04-07T16:41:00Z'],
  ['2024-03-31T00:00:00Z', '2024-03-31T13:00:00Z'],
] as const;

async function makeScene() {
  const { org, surveys } = await makeWeeks(db, { responses: 1400, together: 1, minutes: 37 });
  const scopes: NpsScope[] = [
    {},
    { survey_id: surveys[0] },
    { type: 'ces' as const },
    { facets: propertyFacets({ plan: 'pro' }) },
    { facets: propertyFacets({ source: 'shop', plan: 'pro' }) },
    { type: 'ces' as const, facets: propertyFacets({ source: 'shop', plan: 'free' }) },
    { survey_id: surveys[1], facets: propertyFacets({ source: 'shop', plan: 'pro', rare: '3' }) },
  ].map((scope) => ({ ...everything, ...scope }));
  return { org, scopes };
}

test('in zones whose clocks change each row of each trend is what its own stretch of time holds', async () => {
  const { org, scopes } = await makeScene();
  await check(org, scopes, 'before folding');
  await foldTallies(db);
  await check(org, scopes, 'after folding');
});

async function check(org: string, scopes: readonly NpsScope[], when: string) {
  for (const scope of scopes) {
    for (const timeZone of zones) {
      for (const [from, to] of ranges) {
        const dates = {
          ...({ interval: 'day', timeZone } as const),
          from: readInstants(from)!,
          to: readInstants(to)!,
        };
        const rows = await readTrend(db, org, { scope, dates });
        assert.deepEqual(
          rows
            .map(({ start, promoters, passives, detractors, held }) => [
              start,
              promoters,
              passives,
              detractors,
              held,
            ])
            .filter(([, ...counts]) => counts.some((n) => n !== 0)),
          await countedByHand(org, scope, { timeZone, from, to }),
          `${JSON.stringify(scope)} ${timeZone} ${from} ${to} ${when}`,
        );
      }
    }
  }
}

type Asked = { timeZone: string; from: string; to: string };

/** From the rows alone, by the clocks of Postgres. A bare date is a day of the zone. */
async function countedByHand(org: string, scope: NpsScope, { timeZone, from, to }: Asked) {
  const { survey_id, type, facets } = scope;
  const wanted = Object.fromEntries(facets.map(({ name, value }) => [name, value]));
  const first = from.includes('T')
    ? db`${from}::text::timestamptz`
    : db`${from}::text::timestamp at time zone ${timeZone}`;
  const end = to.includes('T')
    ? db`${to}::text::timestamptz + interval '1 millisecond'`
    : db`(${to}::text::date + 1)::timestamp at time zone ${timeZone}`;
  const rows = await db<{ start: string; p: number; q: number; d: number; held: number }[]>`
    select (r.created_at at time zone ${timeZone})::date::text as start,
           count(*) filter (where held_reason is null and category = 'promoter')::int as p,
           count(*) filter (where held_reason is null and category = 'passive')::int as q,
           count(*) filter (where held_reason is null and category = 'detractor')::int as d,
           count(held_reason)::int as held
    from responses r
    join surveys s on s.id = r.survey_id
    where r.org_id = ${org} and (${survey_id}::uuid is null or s.id = ${survey_id}::uuid)
      and (${type}::text is null or s.type = ${type}::text)
      and not exists (
        select from jsonb_each_text(${JSON.stringify(wanted)}::text::jsonb) w
        where r.properties ->> w.key is distinct from w.value
      )
      and r.created_at >= ${first} and r.created_at < ${end}
    group by 1
    order by 1`;
  return rows.map(({ start, p, q, d, held }) => [start, p, q, d, held]);
}
