import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson } from '../../src/lib/paging/page.ts';
import { everything } from '../../src/responses/filter.queries.ts';
import { readInstants } from '../../src/responses/period.ts';
import { countTrend, type TrendTally, trendOf, trendRows } from '../../src/responses/trend.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeClient, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Row = { start: string; nps: number | null; total: number; held: number };
type Trend = { data: Row[]; meta: { interval: string; tz: string; total: number } };

async function client() {
  const { id, read } = await makeClient(db);
  const { json, status } = reader(app, read);
  const trend = (query = '') => json<Trend>(`/api/v1/nps/trend?${query}`);
  return { id, trend, json, status };
}

const totals = ({ data }: Trend) => data.map(({ start, total }) => [start, total]);

test('each day has a row, even without responses', async () => {
  const org = await client();
  const survey = await makeSurvey(db, org.id);
  const of = { org_id: org.id, survey_id: survey };
  await makeResponse(db, of, { created_at: '2024-05-01T00:00:00Z' });
  await makeResponse(db, of, { created_at: '2024-05-03T23:59:59.999Z', category: 'detractor' });
  await makeResponse(db, of, { created_at: '2024-05-03T12:00:00Z', held_reason: 'hidden_link' });

  const { data, meta } = await org.trend('date_from=2024-05-01&date_to=2024-05-03');
  assert.deepEqual(meta, { interval: 'day', tz: 'UTC', total: 3 });
  assert.deepEqual(
    data.map(({ start, nps, total, held }) => [start, nps, total, held]),
    [
      ['2024-05-01', 100, 1, 0],
      ['2024-05-02', null, 0, 0],
      ['2024-05-03', -100, 1, 1],
    ],
  );
});

test('days, weeks and months follow the zone and its clock changes', async () => {
  const org = await client();
  const of = { org_id: org.id, survey_id: await makeSurvey(db, org.id) };
  // Berlin's clocks go forward in the night to Sunday, 31 March 2024.
  for (const created_at of [
    '2024-03-30T22:59:59.999Z',
    '2024-03-30T23:00:00Z',
    '2024-03-31T21:59:59.999Z',
    '2024-03-31T22:00:00Z',
  ]) {
    await makeResponse(db, of, { created_at });
  }
  const berlin = 'tz=Europe/Berlin&date_from=2024-03-30&date_to=2024-04-01';
  assert.deepEqual(totals(await org.trend(berlin)), [
    ['2024-03-30', 1],
    ['2024-03-31', 2],
    ['2024-04-01', 1],
  ]);
  assert.deepEqual(totals(await org.trend(`${berlin}&interval=week`)), [
    ['2024-03-25', 3],
    ['2024-04-01', 1],
  ]);
  assert.deepEqual(totals(await org.trend(`${berlin}&interval=month`)), [
    ['2024-03-01', 3],
    ['2024-04-01', 1],
  ]);
});

const zones = [
  'UTC',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
];

test('in every zone each row is the rollup of its time range', async () => {
  const org = await client();
  const surveys = [await makeSurvey(db, org.id), await makeSurvey(db, org.id, { type: 'ces' })];
  await db`
    insert into responses (org_id, survey_id, score, category, created_at)
    select ${org.id}, (${surveys}::uuid[])[1 + n % 2], 5, (array['promoter', 'passive', 'detractor'])[1 + n % 3],
           '2024-10-20T00:00:00Z'::timestamptz + n * interval '17 minutes'
    from generate_series(0, 1660) n`;
  await checkZones(org.id, surveys);
  await foldTallies(db);
  await checkZones(org.id, surveys);

  await db`
    update responses
    set created_at = created_at + interval '3 hours', category = 'promoter'
    where org_id = ${org.id} and extract(hour from created_at at time zone 'UTC') in (5, 18)`;
  await checkZones(org.id, surveys);
  await foldTallies(db);
  await db`delete from responses where org_id = ${org.id} and extract(minute from created_at) < 10`;
  await checkZones(org.id, surveys);
  await foldTallies(db);
  await checkZones(org.id, surveys);
});

/** Compares each row of each trend with the responses in its time range. */
async function checkZones(orgId: string, surveys: readonly string[]) {
  for (const timeZone of zones) {
    for (const [from, to] of [
      ['2024-10-21', '2024-11-06'],
      ['2024-10-21T05:17:00Z', '2024-11-05T16:41:00Z'],
      ['2024-10-25T10:00:00Z', '2024-10-25T14:00:00Z'],
    ] as const) {
      for (const scope of [everything, { ...everything, survey_id: surveys[0]! }]) {
        const dates = { timeZone, from: readInstants(from)!, to: readInstants(to)! };
        const days = trendRows({ ...dates, interval: 'day' }, new Date());
        const tallies = await readJson<TrendTally[]>(
          db,
          countTrend(db, orgId, { scope, rows: days }),
        );
        const rows = trendOf(tallies, days);
        const expected = await countedByHand(orgId, { scope, timeZone, from, to });
        const counted = rows.filter(({ total }) => total > 0);
        assert.deepEqual(
          counted.map(({ start, promoters, detractors, total }) => ({
            start,
            promoters,
            detractors,
            total,
          })),
          expected,
          `${timeZone} ${from} ${to}`,
        );
      }
    }
  }
}

/** Counts by reading every row. A date without a time is a day of the zone. */
async function countedByHand(
  orgId: string,
  {
    scope,
    timeZone,
    from,
    to,
  }: { scope: { survey_id: string | null }; timeZone: string; from: string; to: string },
) {
  const local = (day: string) => db`${day}::timestamp at time zone ${timeZone}`;
  const first = from.includes('T') ? db`${from}::text::timestamptz` : local(from);
  const end = to.includes('T')
    ? db`${to}::text::timestamptz + interval '1 millisecond'`
    : db`(${to}::date + 1)::timestamp at time zone ${timeZone}`;
  const rows = await db<{ start: string; promoters: number; detractors: number; total: number }[]>`
    select (created_at at time zone ${timeZone})::date::text as start,
           count(*) filter (where category = 'promoter')::int as promoters,
           count(*) filter (where category = 'detractor')::int as detractors,
           count(*)::int as total
    from responses
    where org_id = ${orgId} and (${scope.survey_id}::uuid is null or survey_id = ${scope.survey_id}::uuid)
      and created_at >= ${first} and created_at < ${end}
    group by 1
    order by 1`;
  return [...rows];
}

test("another organization's responses are in no row", async () => {
  const [mine, theirs] = [await client(), await client()];
  const survey = await makeSurvey(db, theirs.id);
  await makeResponse(db, { org_id: theirs.id, survey_id: survey });
  await makeResponse(db, { org_id: theirs.id, survey_id: survey }, { held_reason: 'hidden_link' });
  for (const query of ['', `survey_id=${survey}`, 'tz=Asia/Tokyo']) {
    const { data } = await mine.trend(query);
    assert.ok(
      data.every(({ total, held }) => total === 0 && held === 0),
      query,
    );
  }
});

for (const query of [
  'interval=hour',
  'tz=Mars/Olympus',
  'tz=%2B02:00',
  'date_from=soon',
  'date_from=2019-01-01',
]) {
  test(`?${query} is refused`, async () => {
    const org = await client();
    assert.equal(await org.status(`/api/v1/nps/trend?${query}`), 400);
  });
}
