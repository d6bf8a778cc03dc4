import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { one, type Sql } from '../../src/lib/db/db.ts';
import {
  type NewResponse,
  type ResponseEffects,
  recordAnswers,
} from '../../src/responses/answer.queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

/** Records answers by the number of remaining contacts, and answers that no survey accepts. */
const { db } = await testDatabase();

type Survey = { org_id: string; survey_id: string; people: string[] };

const effectsOf = ({ org_id: orgId }: NewResponse): ResponseEffects => ({
  added: { orgId, events: [], traceparent: null },
  analyze: false,
});

function answerOf(survey: Survey, person: number | null, over: Partial<NewResponse> = {}) {
  const { org_id, survey_id, people } = survey;
  const contact_id = person === null ? null : people[person]!;
  return {
    id: randomUUID(),
    org_id,
    survey_id,
    contact_id,
    score: 7,
    category: 'passive' as const,
    source: contact_id ? ('link' as const) : ('share' as const),
    comment: null,
    held_reason: null,
    traceparent: null,
    type: 'nps' as const,
    language: 'en',
    properties: null,
    created_at: new Date(),
    ...over,
  };
}

async function makeSurveyOf(org_id: string, contacts: number, over = {}): Promise<Survey> {
  const survey_id = await makeSurvey(db, org_id, over);
  const rows = await db<{ id: string }[]>`
    insert into contacts (org_id, survey_id, email, token)
    select ${org_id}, ${survey_id}, n || '@people.test', gen_random_uuid()
    from generate_series(1, ${contacts}::int) n
    returning id`;
  return { org_id, survey_id, people: rows.map(({ id }) => id) };
}

const { most } = one(await db<{ most: number }[]>`select most_uncommitted_responses() as most`);

/** True for each answer that the group recorded. */
async function recordGroup(sql: Sql, answers: readonly NewResponse[]) {
  const group = answers.map((response) => ({ response, effects: effectsOf(response) }));
  const ids = (await recordAnswers(sql, group, 5000)).map(({ id }) => id);
  return answers.map(({ id }) => ids.includes(id));
}

const recordAlone = async (sql: Sql, answer: NewResponse) => (await recordGroup(sql, [answer]))[0];

/** Remaining contacts, and if one answer alone, and two at once, are recorded. */
const left: [contacts: number, alone: boolean, together: boolean][] = [
  [1, false, false],
  [2, true, false],
  [3, true, true],
  [most - 1, true, true],
  [most, true, true],
  [most + 1, true, true],
];

test('counts the remaining contacts of each survey separately', async () => {
  const org_id = await makeOrganization(db);
  await makeSurveyOf(org_id, most + 5);
  await makeSurveyOf(org_id, 2);
  for (const [contacts, alone, together] of left) {
    const said = `${contacts} contacts`;
    const survey = await makeSurveyOf(org_id, contacts);
    assert.equal(await recordAlone(db, answerOf(survey, 0)), alone, said);
    const second = await makeSurveyOf(org_id, contacts);
    const two = [answerOf(second, 0), answerOf(second, contacts === 1 ? null : 1)];
    const isRecorded = contacts === 1 ? [false, false] : [together, together];
    assert.deepEqual(await recordGroup(db, two), isRecorded, said);
  }
  await assertTalliesHold(db);
});

for (const [still, isRecorded] of [
  [most, false],
  [most + 1, true],
] as const) {
  test(`a waiting answer is ${isRecorded ? 'recorded' : 'skipped'} with ${still - most} too many contacts left`, async () => {
    const survey = await makeSurveyOf(await makeOrganization(db), still + 1);
    let waiting: ReturnType<typeof recordAlone> | undefined;
    await db.begin(async (tx) => {
      await tx`select from surveys where id = ${survey.survey_id} for update`;
      waiting = recordAlone(db, answerOf(survey, 0));
      await untilLockWaits(db);
      await tx`update contacts set responded_at = now() where id = ${survey.people[1]!}`;
    });
    assert.equal(await waiting, isRecorded);
  });
}

test('a group is recorded across scales and numbers of contacts left', async () => {
  const org_id = await makeOrganization(db);
  const kinds = [{ type: 'nps' }, { type: 'ces' }] as const;
  const few = await Promise.all(kinds.map((kind) => makeSurveyOf(org_id, 5, kind)));
  const many = await Promise.all(kinds.map((kind) => makeSurveyOf(org_id, most + 5, kind)));
  const group = [few, many].flatMap((surveys) =>
    surveys.map((survey, n) => answerOf(survey, 0, kinds[n]!)),
  );
  await db.begin(async (tx) => {
    assert.deepEqual(await recordGroup(tx, group), [true, true, true, true]);
    const ids = [...few, ...many].map(({ survey_id }) => survey_id);
    const free = await db<{ id: string }[]>`
      select id from surveys where id = any (${ids}::uuid[]) for key share skip locked`;
    assert.deepEqual(free.map(({ id }) => id).toSorted(), ids.slice(2).toSorted());
  });
});

test('an answer to a foreign, changed or closed survey is skipped', async () => {
  const [org_id, other] = [await makeOrganization(db), await makeOrganization(db)];
  const done = { status: 'completed', completed_by: 'hand', completed_at: new Date() };
  for (const contacts of [5, most + 5]) {
    const survey = await makeSurveyOf(org_id, contacts);
    const closed = await makeSurveyOf(org_id, contacts, done);
    const refused = [0, null].flatMap((person) => [
      answerOf({ ...survey, org_id: other }, person),
      answerOf(closed, person),
    ]);
    const ofScale = [0, null].map((person) => answerOf(survey, person, { type: 'ces' }));
    for (const answer of [...refused, ...ofScale]) {
      assert.equal(await recordAlone(db, answer), false);
    }
    const taken = await makeSurveyOf(other, contacts);
    for (const [person, answer] of refused.entries()) {
      const group = [answer, answerOf(taken, person)];
      assert.deepEqual(await recordGroup(db, group), [false, true]);
    }
    assert.deepEqual(await recordGroup(db, [...ofScale, answerOf(survey, 1)]), [
      false,
      false,
      false,
    ]);
  }
  await assertTalliesHold(db);
});
