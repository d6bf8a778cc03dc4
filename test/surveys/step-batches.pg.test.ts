import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { one } from '../../src/lib/db/db.ts';
import { readSteps } from '../../src/lib/db/migrate-step-files.ts';
import { fullDays, halvesOf, makeTwins, respondToday, type Twin } from '../support/make/twins.ts';
import { testDatabase } from '../support/probe/database.ts';

/** The steps that count half hours of days that are over, batch by batch, for two organizations with days alike. */
const { db } = await testDatabase();
/** In the order of their ids. */
let twins: Twin[];
/** Days without kept half hours, whose facets have changed. */
const changedDays = ['2024-03-03', '2024-03-05'];

before(async () => {
  twins = (await makeTwins(db)).toSorted((a, b) => (a.org < b.org ? -1 : 1));
  await db`call fold_tallies()`;
  await db`delete from facet_changes`;
  for (const twin of twins) {
    await respondToday(db, twin);
    await db`
      insert into facet_changes (org_id, day)
      select ${twin.org}::uuid, day from unnest(${changedDays}::text[]::date[]) day
      union all select ${twin.org}::uuid, (now() at time zone 'UTC' + interval '1 hour')::date`;
  }
  // What another connection has added to a day and is not folded yet.
  await db`
    insert into day_tallies (org_id, survey_id, day, slot, promoters)
    select org_id, survey_id, day, 99, 30 from day_tallies where slot = 0`;
  await db`
    insert into organization_day_tallies (org_id, day, slot, promoters)
    select org_id, day, 99, 30 from organization_day_tallies where slot = 0`;
});

const step = (name: string) => {
  const found = readSteps().find((one) => one.name === name);
  assert.ok(found?.kind === 'batches');
  return found;
};

const estimateOf = async (name: string) =>
  Number(one(await db.unsafe<{ rows: string }[]>(step(name).estimate)).rows);

/** Where each batch ends, and how many rows all of them have; no more batches than there can be. */
async function runBatches(name: string, most: number) {
  const ends: string[][] = [];
  let rows = 0;
  for (let after: string | null = null; ends.length < 100; ) {
    type Done = { last_key: string | null; rows: string };
    const text = `select last_key::text, rows from (${step(name).batch}) batch`;
    const done: Done = one(await db.unsafe<Done[]>(text, [after, most]));
    if (done.last_key === null) break;
    after = done.last_key;
    ends.push(JSON.parse(after));
    rows += Number(done.rows);
  }
  return { ends, rows };
}

const inOrder = (keys: string[][]) => keys.toSorted((a, b) => (a.join() < b.join() ? -1 : 1));

const daysOfSurveys = ({ surveys, rows }: Twin) =>
  surveys.flatMap((survey, n) =>
    [...fullDays(rows.filter((row) => row.survey === n)).keys()].map((day) => [survey, day]),
  );
const daysOfOrganization = ({ org, rows }: Twin) =>
  [...fullDays(rows).keys(), ...changedDays].map((day) => [org, day]);

/** Every second key, and the last. */
const endsOfPairs = (keys: string[][]) =>
  keys.filter((_, at) => at % 2 === 1 || at === keys.length - 1);

/** What is kept of surveys, or of all of them, of one organization. */
const keptOf = async (table: string, { org }: Twin) =>
  [
    ...(await db<{ key: string; day: string; halves: number[] }[]>`
      select coalesce(to_json(t) ->> 'survey_id', org_id::text) as key, day::text, by_half_hour as halves
      from ${db(table)} t
      where org_id = ${org} and by_half_hour is not null`),
  ].map(({ key, day, halves }) => ({ key, day, halves }));

function halvesOfSurveys({ surveys, rows }: Twin) {
  return surveys.flatMap((key, n) =>
    [...fullDays(rows.filter((row) => row.survey === n))].map(([day, of]) => ({
      key,
      day,
      halves: halvesOf(of),
    })),
  );
}

const halvesOfOrganization = ({ org, rows }: Twin) =>
  [...fullDays(rows)].map(([day, of]) => ({ key: org, day, halves: halvesOf(of) }));

const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row)).toSorted();

const cases = [
  {
    name: '0070_figures_of_surveys',
    table: 'day_tallies',
    keysOf: daysOfSurveys,
    keptBy: halvesOfSurveys,
  },
  {
    name: '0070_figures_of_organizations',
    table: 'organization_day_tallies',
    keysOf: daysOfOrganization,
    keptBy: halvesOfOrganization,
  },
];

for (const { name, table, keysOf, keptBy } of cases) {
  test(`${name} passes over what is locked, goes on after it, and counts each day of its own organization`, async () => {
    // Theirs come first: what they write too much would be seen at ours, which are locked.
    const [theirs, ours] = twins as [Twin, Twin];
    const all = inOrder(twins.flatMap(keysOf));
    assert.ok(all.length > 1);
    assert.equal(await estimateOf(name), all.length);
    await db.begin(async (tx) => {
      await tx`select from organizations where id = ${ours.org} for update`;
      await tx`select from surveys where org_id = ${ours.org} for update`;
      assert.deepEqual(await runBatches(name, 1), { ends: all, rows: all.length });
    });
    assert.deepEqual(sorted(await keptOf(table, theirs)), sorted(keptBy(theirs)));
    assert.deepEqual(await keptOf(table, ours), []);

    const left = inOrder(keysOf(ours));
    assert.equal(await estimateOf(name), left.length);
    assert.deepEqual(await runBatches(name, 2), { ends: endsOfPairs(left), rows: left.length });
    for (const twin of twins) {
      assert.deepEqual(sorted(await keptOf(table, twin)), sorted(keptBy(twin)));
    }
    assert.equal(await estimateOf(name), 0);
  });
}
