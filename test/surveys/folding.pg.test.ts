import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { connect, type Sql } from '../../src/lib/db/db.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/** What folding takes of surveys and organizations that have rows in the same slots, of the same days and quarters. */
const { db, url } = await testDatabase();

type Own = { org_id: string; survey_id: string };
let held: Own;
let free: Own;

const slots = [3, 5];
const totals = [
  'survey_tallies',
  'day_tallies',
  'asked_tallies',
  'organization_day_tallies',
] as const;
const keyOf = (table: string, { org_id, survey_id }: Own) =>
  table === 'organization_day_tallies' ? db`org_id = ${org_id}` : db`survey_id = ${survey_id}`;

/** The last day and quarter that are over, and those that today begins with. */
const yesterday = () => db`(now() at time zone 'UTC')::date - 1`;
const midnight = () => db`date_trunc('day', now(), 'UTC')`;

/** A survey whose organization has no other, with each kind of total in two slots, of yesterday and of today. */
async function makeTotals(): Promise<Own> {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const slot = db`unnest(${slots}::int[]) slot`;
  const age = db`generate_series(0, 1) age`;
  await db`
    insert into survey_tallies (org_id, survey_id, slot, promoters)
    select ${org_id}, ${survey_id}, slot, 1 from ${slot}`;
  await db`
    insert into day_tallies (org_id, survey_id, day, slot, promoters)
    select ${org_id}, ${survey_id}, ${yesterday()} + age, slot, 1 from ${slot}, ${age}`;
  await db`
    insert into organization_day_tallies (org_id, day, slot, promoters)
    select ${org_id}, ${yesterday()} + age, slot, 1 from ${slot}, ${age}`;
  await db`
    insert into asked_tallies (org_id, survey_id, quarter, slot, asked)
    select ${org_id}, ${survey_id}, ${midnight()} - (1 - age) * interval '15 minutes', slot, 1
    from ${slot}, ${age}`;
  return { org_id, survey_id };
}

before(async () => {
  [held, free] = [await makeTotals(), await makeTotals()];
});

/** Folding by a connection that waits for nothing for long. */
async function fold() {
  const own = connect(url, { connections: 1 });
  await own`set lock_timeout = '5s'`;
  await own`call fold_tallies()`.finally(() => own.end());
}

/** The rows of each kind, the older day first: slots and sums. */
async function rowsOf(own: Own) {
  const rows: Record<string, unknown[]> = {};
  for (const table of totals) {
    const of =
      table === 'asked_tallies' ? 'quarter' : table === 'survey_tallies' ? 'org_id' : 'day';
    const sum = db(table === 'asked_tallies' ? 'asked' : 'promoters');
    const found = await db<{ slots: number[]; sum: number }[]>`
      select array_agg(slot order by slot) as slots, sum(${sum})::int as sum
      from ${db(table)} where ${keyOf(table, own)} group by ${db(of)} order by ${db(of)}`;
    rows[table] = found.map((row) => [row.slots, row.sum]);
  }
  return rows;
}

const open = [slots, 2];
const folded = [[0], 2];
const asTheyWere = {
  survey_tallies: [open],
  day_tallies: [open, open],
  asked_tallies: [open, open],
  organization_day_tallies: [open, open],
};
const foldedUntilToday = {
  survey_tallies: [folded],
  day_tallies: [folded, open],
  asked_tallies: [folded, open],
  organization_day_tallies: [folded, open],
};

const ways: Record<string, (tx: Sql) => Promise<unknown>> = {
  'a survey and an organization that are being changed': async (tx) => {
    await tx`select from surveys where id = ${held.survey_id} for update`;
    await tx`select from organizations where id = ${held.org_id} for update`;
  },
  'totals that are being changed': async (tx) => {
    for (const table of totals) {
      await tx`select from ${tx(table)} where ${keyOf(table, held)} for update`;
    }
  },
};

for (const [what, hold] of Object.entries(ways)) {
  test(`folding passes over ${what}, and folds all others up to today`, async () => {
    await db.begin(async (tx) => {
      await hold(tx);
      await fold();
    });
    assert.deepEqual(await rowsOf(free), foldedUntilToday);
    assert.deepEqual(await rowsOf(held), asTheyWere);
    free = await makeTotals();
  });
}

test('folding leaves what of a day cannot be folded yet, and takes it the next time', async () => {
  await fold();
  assert.deepEqual(await rowsOf(held), foldedUntilToday);
  assert.deepEqual(await rowsOf(free), foldedUntilToday);
});

for (const table of totals) {
  test(`folding finds what is left in one slot of ${table} alone`, async () => {
    const own = await makeTotals();
    for (const each of totals) {
      const isLeft = each === table ? db`slot = ${slots[0]!}` : db`false`;
      await db`delete from ${db(each)} where ${keyOf(each, own)} and not (${isLeft})`;
    }
    await db`update ${db(table)} set slot = 1 where ${keyOf(table, own)}`;
    await fold();
    const [first, ...later] = (await rowsOf(own))[table]!;
    assert.deepEqual(first, [[0], 1]);
    assert.deepEqual(later, table === 'survey_tallies' ? [] : [[[1], 1]]);
  });
}
