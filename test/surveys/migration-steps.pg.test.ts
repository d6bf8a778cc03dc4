import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Db, one } from '../../src/lib/db/db.ts';
import { migrate, readMigrations } from '../../src/lib/db/migrate.ts';
import { readSteps } from '../../src/lib/db/migrate-step-files.ts';
import { describeSteps, listSteps } from '../../src/lib/db/migrate-step-state.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { startStepWorker } from '../../src/lib/steps/step-worker.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { emptyDatabase, testDatabase } from '../support/probe/database.ts';

/** Two organizations with busy days, in a database that has no figures of days yet. */
async function filledBefore() {
  const { db, url } = await emptyDatabase();
  const before = readMigrations().filter(({ name }) => name < '0070');
  await migrate(db, before, []);
  for (let n = 0; n < 2; n++) {
    const org_id = await makeOrganization(db);
    const survey_id = await makeSurvey(db, org_id);
    await db`
      insert into responses (org_id, survey_id, score, category, properties, created_at)
      select ${org_id}, ${survey_id}, 9, 'promoter', '{"plan": "pro"}',
             date_trunc('day', now(), 'UTC') - (n % 5 + 1) * interval '1 day' + n * interval '7 minutes'
      from generate_series(1, 150) n`;
  }
  await db`call fold_tallies()`;
  return { db, url };
}

const countFigures = async (db: Db) =>
  one(
    await db<{ surveys: number; organizations: number; facets: number; open: number }[]>`
      select (select count(*)::int from day_tallies where by_half_hour is not null) as surveys,
             (select count(*)::int from organization_day_tallies where by_half_hour is not null) as organizations,
             (select count(distinct (org_id, day))::int from facet_day_tallies) as facets,
             (select count(*)::int from facet_changes) as open`,
  );

const figures = async (db: Db) =>
  await db`
  select facet, day, promoters, by_half_hour
  from facet_day_tallies
  union all
  select 0, day, promoters, by_half_hour from organization_day_tallies
  union all
  select 1, day, promoters, by_half_hour from day_tallies
  order by 1, 2, 3, 4`;

test('an upgraded database gets its kept figures by steps, the same that the hourly count makes', async () => {
  const { db, url } = await filledBefore();
  await migrate(db);
  const left = await listSteps(db);
  assert.ok(left.every(({ ended_at }) => ended_at === null));
  assert.match(describeSteps(left)!, /^step 0070_day_index_of_organizations .* then 4 more$/);
  await foldTallies(db);
  assert.equal(
    (await countFigures(db)).organizations,
    0,
    'the hourly count leaves them to the steps',
  );

  await startStepWorker({
    address: { url },
    log: createLog({ level: 'silent' }),
    steps: readSteps(),
    worker: 'test',
    program: 'test',
  }).ended;

  assert.equal(describeSteps(await listSteps(db)), undefined);
  const { surveys, organizations, facets, open } = await countFigures(db);
  assert.ok(organizations >= 10 && surveys === organizations && facets === organizations);
  assert.equal(open, 0);
  const [valid] = await db`
    select from pg_constraint where conname = 'responses_have_members_as_owners' and convalidated`;
  assert.ok(valid);

  const bySteps = await figures(db);
  await db`update day_tallies set by_half_hour = null`;
  await db`update organization_day_tallies set by_half_hour = null`;
  await db`delete from facet_day_tallies`;
  await db`delete from facet_day_bits`;
  await db`delete from facet_days`;
  await foldTallies(db);
  assert.deepEqual(bySteps, await figures(db));
});

test('the hourly count leaves half hours to the steps until both of them have ended', async () => {
  const { db } = await testDatabase();
  await db.unsafe(`
    create table half_hour_counts (at timestamptz default now());
    create or replace procedure tally_half_hours() language sql
      as $$ insert into half_hour_counts default values $$`);
  const steps = ['0070_figures_of_organizations', '0070_figures_of_surveys'];
  const counts = async (...ended: string[]) => {
    await db`
      update migration_steps set ended_at = case when name = any(${ended}) then now() end
      where name = any(${steps})`;
    await foldTallies(db);
    return (await db`delete from half_hour_counts`).count;
  };
  for (const one of steps) assert.equal(await counts(one), 0, one);
  assert.deepEqual([await counts(), await counts(...steps)], [0, 1]);
});

test('a new database has nothing left to be done', async () => {
  const { db } = await emptyDatabase();
  await migrate(db);
  const steps = await listSteps(db);
  assert.deepEqual(
    steps.map(({ name }) => name),
    readSteps().map(({ name }) => name),
  );
  assert.ok(steps.every(({ ended_at }) => ended_at !== null));
});
