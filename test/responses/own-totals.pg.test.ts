import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import {
  type NewResponse,
  type ResponseEffects,
  recordAnswers,
} from '../../src/responses/answer.queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

/** Answers add to the totals of their own survey and organization: those of others are neither changed nor locked. */
const { db } = await testDatabase();
const day = '2026-06-01';

type Survey = { org_id: string; survey_id: string; people: string[] };

const effectsOf = ({ org_id: orgId }: NewResponse): ResponseEffects => ({
  added: { orgId, events: [], traceparent: null },
  analyze: false,
});

const answerOf = ({ org_id, survey_id }: Survey, contact_id: string | null): NewResponse => ({
  id: randomUUID(),
  org_id,
  survey_id,
  contact_id,
  score: 7,
  category: 'passive',
  source: contact_id ? 'link' : 'share',
  comment: null,
  held_reason: null,
  traceparent: null,
  type: 'nps',
  language: 'en',
  properties: null,
  created_at: new Date(`${day}T12:00Z`),
});

/** With so many contacts that no answer may be the last, all of them mailed in one quarter of an hour. */
async function makeSurveyOf(org_id: string): Promise<Survey> {
  const survey_id = await makeSurvey(db, org_id);
  const rows = await db<{ id: string }[]>`
    insert into contacts (org_id, survey_id, email, token, status, sent_at)
    select ${org_id}, ${survey_id}, n || '@people.test', gen_random_uuid(), 'sent', '2026-05-31 12:00Z'
    from generate_series(1, 30 + most_uncommitted_responses()) n
    returning id`;
  return { org_id, survey_id, people: rows.map(({ id }) => id) };
}

/** Surveys with an answer on the day, whose totals are folded, and two that have none yet. */
async function makeScene() {
  const orgs = await Promise.all(Array.from({ length: 5 }, () => makeOrganization(db)));
  const [one, other, held, apart, first] = orgs as [string, string, string, string, string];
  const answered = {
    own: await makeSurveyOf(one),
    held: await makeSurveyOf(one),
    apart: await makeSurveyOf(one),
    ofOther: await makeSurveyOf(other),
    ofHeld: await makeSurveyOf(held),
    ofApart: await makeSurveyOf(apart),
  };
  for (const { org_id, survey_id, people } of Object.values(answered)) {
    await db`
      insert into responses (org_id, survey_id, contact_id, score, category, created_at)
      values (${org_id}, ${survey_id}, ${people[0]!}, 9, 'promoter', ${`${day} 08:00Z`})`;
    await db`update contacts set responded_at = now() where id = ${people[0]!}`;
  }
  await db`call fold_tallies()`;
  return { ...answered, first: await makeSurveyOf(one), ofFirst: await makeSurveyOf(first) };
}

/** The folded totals of a survey, and of the day of its organization, as far as they are not locked. */
async function lockTotals(sql: Sql, { survey_id }: Survey) {
  let locked = 0;
  for (const table of ['survey_tallies', 'day_tallies', 'asked_tallies']) {
    locked += (
      await sql`
        select from ${sql(table)} where survey_id = ${survey_id} and slot = 0
        for update skip locked`
    ).length;
  }
  return locked;
}
const lockDay = async (sql: Sql, { org_id }: Survey) =>
  (
    await sql`
      select from organization_day_tallies where org_id = ${org_id} and day = ${day} and slot = 0
      for update skip locked`
  ).length;

/** Which surveys and organizations have the answers of the test in folded totals. */
async function countedInFirstSlot() {
  const found = await db<{ of: string; first: boolean }[]>`
    select survey_id as of, slot = 0 as first from survey_tallies where passives > 0
    union all select survey_id, slot = 0 from day_tallies where passives > 0
    union all select org_id, slot = 0 from organization_day_tallies where passives > 0`;
  return (of: string) => found.filter((row) => row.of === of).map(({ first }) => first);
}

type Recorder = (sql: Sql, answers: readonly NewResponse[]) => Promise<number>;

const ways: Record<string, Recorder> = {
  'one by one': async (sql, answers) => {
    for (const each of answers) assert.equal(await recordGroup(sql, [each]), 1);
    return answers.length;
  },
  together: (sql, answers) => recordGroup(sql, answers),
};

async function recordGroup(sql: Sql, answers: readonly NewResponse[]) {
  const group = answers.map((response) => ({ response, effects: effectsOf(response) }));
  return (await recordAnswers(sql, group, 5000)).length;
}

for (const [way, record] of Object.entries(ways)) {
  test(`answers that come ${way} count in their own totals, and where these are held in a slot of their own`, async () => {
    const { apart, ofApart, ...scene } = await makeScene();
    const { held, ofHeld } = scene;
    // Another number of each survey.
    const answers = Object.values(scene).flatMap((survey, n) =>
      [...survey.people.slice(1, 3 + n), null].map((contact) => answerOf(survey, contact)),
    );
    await db.begin(async (other) => {
      assert.equal(await lockTotals(other, held), 3);
      assert.equal(await lockDay(other, ofHeld), 1);
      await db.begin(async (tx) => {
        await tx`set local lock_timeout = '5s'`;
        assert.equal(await record(tx, answers), answers.length);
        assert.equal(await lockTotals(other, apart), 3);
        assert.equal(await lockDay(other, ofApart), 1);
      });
    });
    await assertTalliesHold(db);
    const slotsOf = await countedInFirstSlot();
    for (const survey of Object.values(scene)) {
      const isFirst = survey !== held;
      assert.deepEqual(slotsOf(survey.survey_id), [isFirst, isFirst]);
      const isFirstOfDay = survey !== ofHeld;
      assert.deepEqual(slotsOf(survey.org_id), [isFirstOfDay]);
    }
    await db`delete from organizations`;
  });
}
