import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

/** Writers of several totals change them in the order of their keys, so that two never wait for each other. */
const { db } = await testDatabase();
const days = ['2026-03-04', '2026-03-05'];

type Key = { org: string; survey: string | null; day: string | null };

const organizations = [await makeOrganization(db), await makeOrganization(db)].toSorted();
const org = organizations[0]!;
const surveys = [await makeSurvey(db, org), await makeSurvey(db, org)].toSorted();
const ofSurveys: Key[] = surveys.map((survey) => ({ org, survey, day: null }));
const ofDays: Key[] = surveys.flatMap((survey) => days.map((day) => ({ org, survey, day })));
const ofOrganizations: Key[] = organizations.flatMap((each) =>
  days.map((day) => ({ org: each, survey: null, day })),
);

/** Each kind of total with its keys in their order, and what a row of it begins with. */
const kinds = [
  { table: 'survey_tallies', keys: ofSurveys, of: 'survey_id', day: 'null::date' },
  { table: 'day_tallies', keys: ofDays, of: 'survey_id', day: 'day' },
  { table: 'organization_day_tallies', keys: ofOrganizations, of: 'org_id', day: 'day' },
  {
    table: 'asked_tallies',
    keys: ofDays,
    of: 'survey_id',
    day: "(quarter at time zone 'UTC')::date",
  },
];

/** The call that adds to totals with these keys, in this order. */
function additionOf(table: string, keys: readonly Key[]) {
  const given = db`
    unnest(${keys.map((key) => key.org)}::uuid[], ${keys.map(({ survey }) => survey)}::uuid[],
           ${keys.map(({ day }) => day)}::text[]::date[]) with ordinality as k (org, survey, day, place)`;
  const delta =
    table === 'asked_tallies'
      ? db`(org, survey, day::timestamp at time zone 'UTC', 1, 0, 0)::asked_delta`
      : db`(org, survey, day, 1, 0, 0, 9, 0, 0, 0)::tally_delta`;
  return db`select ${db(`add_to_${table}`)}(array(select ${delta} from ${given} order by place), 3::smallint)`;
}

for (const { table, keys, of, day } of kinds) {
  test(`a writer of several rows of ${table} that waits for the first holds none of the others`, async () => {
    await additionOf(table, keys);
    let waiting: PromiseLike<unknown> = Promise.resolve();
    await db.begin(async (tx) => {
      const [first] = keys;
      await tx`
        select from ${tx(table)}
        where ${tx(of)} = ${first!.survey ?? first!.org}
          and ${tx.unsafe(day)} is not distinct from ${first!.day}::date
        for update`;
      waiting = additionOf(table, keys.toReversed()).execute();
      await untilLockWaits(db);
      const free = await tx`select from ${tx(table)} for update skip locked`;
      assert.equal(free.length, keys.length);
    });
    await waiting;
  });
}
