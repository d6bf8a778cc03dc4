import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson } from '../../src/lib/paging/page.ts';
import { everything, type NpsScope } from '../../src/responses/filter.queries.ts';
import { type Range, startOfLocalDay } from '../../src/responses/period.ts';
import {
  countTrend,
  readNps,
  sampleVariance,
  type TrendTally,
  trendOf,
  trendRows,
} from '../../src/responses/trend.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { makeTwins, type Twin, type TwinRow } from '../support/make/twins.ts';
import { testDatabase } from '../support/probe/database.ts';

/** Counts responses at the first and last instant of a day and of a range. */
const { db } = await testDatabase();
const [twin] = await makeTwins(db);

type Scoped = { said: string; scope: NpsScope; has: (row: TwinRow) => boolean };

const plan = { kind: 'property', name: 'plan', value: 'eight' } as const;
const scopes: readonly Scoped[] = [
  { said: 'all', scope: everything, has: () => true },
  ...[0, 1, 2].map((survey) => ({
    said: `survey ${survey}`,
    scope: { ...everything, survey_id: twin.surveys[survey]! },
    has: (row: TwinRow) => row.survey === survey,
  })),
  { said: 'type', scope: { ...everything, type: 'nps' }, has: (row) => row.survey < 2 },
  {
    said: 'audience',
    scope: { ...everything, audience: 'employee' },
    has: (row) => row.survey === 1,
  },
  {
    said: 'property',
    scope: { ...everything, facets: [plan] },
    has: (row) => row.plan === 'eight',
  },
  {
    said: 'property of a type',
    scope: { ...everything, type: 'ces', facets: [plan] },
    has: (row) => row.plan === 'eight' && row.survey === 2,
  },
  {
    said: 'property and tag',
    scope: { ...everything, facets: [plan, { kind: 'tag', name: '', value: twin.tag }] },
    has: (row) => row.plan === 'eight' && row.tagged,
  },
];

const midnights = ['2024-03-04', '2024-03-06', '2024-03-07', '2024-03-09'].map(
  (day) => `${day}T00:00:00.000Z`,
);
/** Some of these instants are times of responses. */
const instants = [...midnights, '2024-03-05T01:00:00.000Z', '2024-03-06T18:00:00.000Z'];

const ranges: readonly Range[] = [
  { from: null, to: null },
  ...instants.flatMap((at) => [
    { from: new Date(at), to: null },
    { from: null, to: new Date(at) },
    ...instants
      .filter((later) => later > at)
      .map((later) => ({ from: new Date(at), to: new Date(later) })),
  ]),
];

/** Row times have microseconds and compare as text. */
const isWithin = ({ at }: TwinRow, { from, to }: Range) =>
  (!from || at >= micro(from)) && (!to || at < micro(to));
const micro = (time: Date) => time.toISOString().replace('Z', '000Z');

const countOf = (rows: readonly TwinRow[], { said: _, has }: Scoped) => {
  const mine = rows.filter((row) => !row.held && has(row));
  const of = (category: TwinRow['category']) =>
    mine.filter((row) => row.category === category).length;
  return [of('promoter'), of('passive'), of('detractor')];
};

/** Responses on hold have no tags in this test. */
const heldOf = (rows: readonly TwinRow[], { said, has }: Scoped) =>
  said.endsWith('tag') ? 0 : rows.filter((row) => row.held && has(row)).length;

type Counted = { promoters: number; passives: number; detractors: number; held: number };
const figures = ({ promoters, passives, detractors, held }: Counted) => [
  promoters,
  passives,
  detractors,
  held,
];

async function checkTotals(twin: Twin, scoped: Scoped) {
  for (const range of ranges) {
    const found = await readNps(db, twin.org, { ...scoped.scope, range });
    const within = twin.rows.filter((row) => isWithin(row, range));
    const wanted = [...countOf(within, scoped), heldOf(within, scoped)];
    assert.deepEqual(figures(found), wanted, `${scoped.said}, ${JSON.stringify(range)}`);
  }
}

async function checkTrend(twin: Twin, scoped: Scoped, [from, to, zone]: readonly string[]) {
  const dates = {
    ...({ interval: 'day', timeZone: zone! } as const),
    from: instantsOf(from!),
    to: instantsOf(to!),
  };
  const asked = { scope: scoped.scope, rows: trendRows(dates, new Date()) };
  const found = await readJson<TrendTally[]>(db, countTrend(db, twin.org, asked));
  const rows = trendOf(found, asked.rows);
  const said = `${scoped.said}, ${from} to ${to} ${zone}`;
  for (const [place, row] of rows.entries()) {
    const day = { from: startOf(row.start, zone!), to: startOf(dayAfter(row.start), zone!) };
    const ofDay = twin.rows.filter((each) => isWithin(each, day));
    const wanted = [...countOf(ofDay, scoped), heldOf(ofDay, scoped)];
    assert.deepEqual(figures(row), wanted, `${row.start}, ${said}`);
    assert.equal(found[place]!.score_sum, sumOf(ofDay.filter(scoped.has)), `${row.start}, ${said}`);
  }
}

const dayMs = 86_400_000;
const dayAfter = (day: string) => new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);
const startOf = (day: string, zone: string) => startOfLocalDay(day, zone);
const instantsOf = (day: string) => ({ first: new Date(day), end: new Date(dayAfter(day)), day });
const sumOf = (rows: readonly TwinRow[]) =>
  rows.filter(({ held }) => !held).reduce((sum, { score }) => sum + score, 0);

const trends = [
  ['2024-03-04', '2024-03-09', 'UTC'],
  ['2024-03-05', '2024-03-07', 'Asia/Kolkata'],
  ['2024-03-05', '2024-03-07', 'Etc/GMT+1'],
  ['2024-03-07', '2024-03-07', 'UTC'],
] as const;

async function checkVariance(twin: Twin, scoped: Scoped, [from, to, timeZone]: readonly string[]) {
  const days = { from: from!, to: to!, timeZone: timeZone! };
  const wanted = { scope: scoped.scope, ...days };
  const [found] = await db<{ variance: number | null }[]>`
    select ${sampleVariance(db, twin.org, wanted)} as variance`;
  const range = { from: startOf(from!, timeZone!), to: startOf(dayAfter(to!), timeZone!) };
  const rows = twin.rows.filter((row) => !row.held && scoped.has(row) && isWithin(row, range));
  const mean = sumOf(rows) / rows.length;
  const squares = rows.reduce((sum, { score }) => sum + (score - mean) ** 2, 0);
  const difference = (found!.variance ?? 0) - (rows.length < 2 ? 0 : squares / (rows.length - 1));
  assert.ok(Math.abs(difference) < 1e-9, `${scoped.said}, ${from} to ${to} ${timeZone}`);
}

test('the variance covers the newest 5,000 scores', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id, { type: 'ces' });
  await db`
    insert into responses (org_id, survey_id, score, category, created_at)
    select ${org_id}, ${survey_id}, case when n < 2 then 1 else 5 + n % 2 * 2 end, 'passive',
           timestamptz '2024-03-05T00:00Z' + n * interval '1 second'
    from generate_series(0, 5001) n`;
  const days = { from: '2024-03-05', to: '2024-03-05', timeZone: 'UTC' };
  const [found] = await db<{ variance: number }[]>`
    select ${sampleVariance(db, org_id, { scope: everything, ...days })} as variance`;
  assert.ok(Math.abs(found!.variance - 5000 / 4999) < 1e-9);
});

for (const when of ['before folding', 'after folding']) {
  test(`figures include the ends of each day and range, ${when}`, async () => {
    if (when.startsWith('after')) await foldTallies(db);
    for (const scoped of scopes) {
      await checkTotals(twin, scoped);
      for (const trend of trends) {
        await checkTrend(twin, scoped, trend);
        await checkVariance(twin, scoped, trend);
      }
    }
  });
}
