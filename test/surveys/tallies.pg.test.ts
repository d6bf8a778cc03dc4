import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type Sql } from '../../src/lib/db/db.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

const { db, url } = await testDatabase();

/** Deterministic pseudo-random numbers. */
function numbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Pick = ReturnType<typeof numbers>;
type Survey = { id: string; org_id: string };

const categories = ['promoter', 'passive', 'detractor'];
const statuses = ['sent', 'bounced', 'failed'];

/** Adds answers and contacts over a few days. Some answers are on hold. */
const add = [
  (pick: Pick, { id, org_id }: Survey) => db`
    insert into responses (org_id, survey_id, score, category, held_reason, created_at)
    select ${org_id}, ${id}, ${pick(11)}, ${categories[pick(3)]!},
           case when n % 4 = 0 then 'trap' end,
           now() - (n % 3 + ${pick(3)}::int) * interval '17 hours'
    from generate_series(1, ${1 + pick(6)}::int) n`,
  (pick: Pick, { id, org_id }: Survey) => db`
    insert into contacts (org_id, survey_id, email, token, sent_at, created_at)
    select ${org_id}, ${id}, gen_random_uuid() || '@people.test', gen_random_uuid(),
           case when n % 2 = 0 then now() - n * interval '7 hours 7 minutes' end, now() - ${pick(4)}::int * interval '17 hours'
    from generate_series(1, ${1 + pick(4)}::int) n`,
  (_: Pick, { id, org_id }: Survey) => db`
    insert into responses (org_id, survey_id, contact_id, score, category)
    select ${org_id}, ${id}, id, 9, 'promoter'
    from contacts
    where survey_id = ${id}
    limit 2
    on conflict do nothing`,
];

/** Some rows that no other writer has locked. */
const some = (table: 'responses' | 'contacts', survey: Survey, limit: number) => db`
  id in (
    select id from ${db(table)} where survey_id = ${survey.id} order by random() limit ${limit}
    for update skip locked
  )`;
const change = [
  (pick: Pick, survey: Survey) => db`
    update responses
    set held_reason = case when held_reason is null then 'by hand' end
    where ${some('responses', survey, pick(4))}`,
  (pick: Pick, survey: Survey) => db`
    update responses
    set score = ${pick(11)}, category = ${categories[pick(3)]!}
    where ${some('responses', survey, pick(4))}`,
  (pick: Pick, survey: Survey) => db`
    update contacts
    set sent_at = coalesce(sent_at, now()), responded_at = case when random() < 0.5 then now() end,
        status = ${statuses[pick(3)]!}
    where ${some('contacts', survey, pick(4))}`,
  (pick: Pick, survey: Survey) =>
    db`delete from responses where ${some('responses', survey, pick(3))}`,
  (pick: Pick, survey: Survey) =>
    db`delete from contacts where ${some('contacts', survey, pick(2))}`,
];

/** Tolerates deadlocks and deleted surveys, whose statements are rolled back. */
async function happened(statement: PromiseLike<unknown>): Promise<number> {
  try {
    await statement;
    return 1;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== '23503' && code !== '40P01') throw error;
    return 0;
  }
}

for (const seed of [1, 2, 3]) {
  test(`tallies match the rows after concurrent writes (${seed})`, async () => {
    const surveys: Survey[] = [];
    for (let n = 0; n < 3; n++) {
      const org_id = await makeOrganization(db);
      for (let m = 0; m < 3; m++) surveys.push({ org_id, id: await makeSurvey(db, org_id) });
    }
    const writer = async (number: number) => {
      const pick = numbers(seed * 100 + number);
      const actions = [...add, ...add, ...change];
      let done = 0;
      for (let step = 0; step < 40; step++) {
        const survey = surveys[pick(surveys.length)]!;
        done += await happened(actions[pick(actions.length)]!(pick, survey));
        if (number === 0 && step % 5 === 4) await happened(foldTallies(db));
        if (number === 1 && step === 20) {
          await happened(db`delete from surveys where id = ${surveys[0]!.id}`);
        }
        if (number === 2 && step === 20) {
          await happened(db`delete from organizations where id = ${surveys.at(-1)!.org_id}`);
        }
      }
      return done;
    };

    const done = await Promise.all([0, 1, 2, 3, 4, 5].map(writer));

    assert.ok(Math.min(...done) > 20, 'most statements committed');
    await assertTalliesHold(db);
    await foldTallies(db);
    await assertTalliesHold(db);
  });
}

const slotsOf = async (survey_id: string) => ({
  survey: (await db`select slot from survey_tallies where survey_id = ${survey_id}`).length,
  hours: (await db`select slot from hour_tallies where survey_id = ${survey_id}`).length,
  past: (
    await db`
      select slot from hour_tallies where survey_id = ${survey_id} and slot <> 0 and hour < now() - interval '2 hours'`
  ).length,
});

test('folding leaves one row per survey and past hour', async () => {
  const of = { org_id: await makeOrganization(db), survey_id: '' };
  of.survey_id = await makeSurvey(db, of.org_id);
  const [first, second] = [connect(url, { connections: 1 }), connect(url, { connections: 1 })];
  for (const writer of [first, second]) {
    await makeContact(writer, of, { created_at: '2024-05-01', sent_at: '2024-05-01' });
    await makeResponse(writer, of, { created_at: '2024-05-01' });
    await makeResponse(writer, of);
  }
  assert.deepEqual(await slotsOf(of.survey_id), { survey: 2, hours: 4, past: 2 });
  await foldTallies(db);
  assert.deepEqual(await slotsOf(of.survey_id), { survey: 1, hours: 3, past: 0 });
  await assertTalliesHold(db);
  await Promise.all([first.end(), second.end()]);
});

test('writers to one survey do not block each other or folding', async () => {
  const of = { org_id: await makeOrganization(db), survey_id: '' };
  of.survey_id = await makeSurvey(db, of.org_id);
  const write = async (sql: Sql) => {
    await makeContact(sql, of, { created_at: '2024-05-01', sent_at: '2024-05-01' });
    await makeResponse(sql, of, { created_at: '2024-05-01' });
  };
  const other = connect(url, { connections: 1 });
  await other`set lock_timeout = '5s'`;
  await write(db);
  await foldTallies(db);
  await db.begin(async (tx) => {
    await write(tx);
    await write(other);
    await foldTallies(other);
  });
  await assertTalliesHold(db);
  await foldTallies(db);
  assert.deepEqual(await slotsOf(of.survey_id), { survey: 1, hours: 1, past: 0 });
  await assertTalliesHold(db);
  await other.end();
});
