import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../src/errors.ts';
import { parse } from '../../src/lib/validation/parse.ts';
import { addAudience, peopleMatching } from '../../src/people/audience.ts';
import { FilterInput } from '../../src/people/filter.ts';
import { savePeople } from '../../src/people/save.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const org_id = await makeOrganization(db);
const survey_id = await makeSurvey(db, org_id);
const second = await makeSurvey(db, org_id);
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000 - 60_000);

/** Ada has everything, Ben has other values, Cy has none. Another organization has the same people. */
await savePeople(db, org_id, [
  {
    email: 'ada@people.test',
    name: 'Ada',
    properties: {
      plan: 'pro',
      seats: 12,
      city: '50%_off',
      vip: true,
      since: '7.5',
      'a "b" \\c': 'x',
    },
    language: 'de',
  },
  {
    email: 'ben@people.test',
    name: 'Ben',
    properties: { plan: 'Free', seats: '9', city: '50 off' },
  },
  { email: 'cy@people.test', name: 'Cy', properties: {} },
]);
const ada = { org_id, survey_id };
const adaContact = await makeContact(db, ada, { email: 'ada@people.test', sent_at: daysAgo(100) });
await makeContact(
  db,
  { org_id, survey_id: second },
  { email: 'Ada@people.test', sent_at: daysAgo(40) },
);
const benContact = await makeContact(db, ada, { email: 'ben@people.test', sent_at: daysAgo(0) });
await makeResponse(db, ada, {
  contact_id: adaContact,
  score: 3,
  category: 'detractor',
  created_at: daysAgo(3),
});
await makeResponse(db, ada, {
  contact_id: adaContact,
  source: 'import',
  score: 9,
  created_at: daysAgo(30),
});
const benResponse = await makeResponse(db, ada, { contact_id: benContact, score: 10 });
const [tag] = await db<{ id: string }[]>`
  insert into tags (org_id, name, color) values (${org_id}, 'vip', '#123456') returning id`;
await db`insert into response_tags ${db({ org_id, response_id: benResponse, tag_id: tag!.id })}`;

const strangers = await makeOrganization(db);
const theirs = { org_id: strangers, survey_id: await makeSurvey(db, strangers) };
const cyElsewhere = await makeContact(db, theirs, { email: 'cy@people.test', sent_at: daysAgo(1) });
await makeResponse(db, theirs, { contact_id: cyElsewhere });

async function match(all: object[]) {
  const filter = parse(FilterInput, { all });
  const rows = await db<{ email: string }[]>`
    select p.email from ${peopleMatching(db, org_id, filter)} order by p.email`;
  return rows.map(({ email }) => email.slice(0, email.indexOf('@'))).join(' ');
}

const table: [field: string, op: string, value: unknown, expected: string][] = [
  ['property.plan', 'is', 'pro', 'ada'],
  ['property.plan', 'is_not', 'pro', 'ben cy'],
  ['property.plan', 'contains', 'RE', 'ben'],
  ['property.plan', 'exists', undefined, 'ada ben'],
  ['property.plan', 'exists', false, 'cy'],
  ['property.plan', 'gt', 0, ''],
  ['property.city', 'contains', '%_', 'ada'],
  ['property.city', 'contains', '50', 'ada ben'],
  ['property.seats', 'is', 12, 'ada'],
  ['property.seats', 'is', '9', 'ben'],
  ['property.seats', 'gt', 9, 'ada'],
  ['property.seats', 'lt', '12', 'ben'],
  ['property.since', 'gt', 7.25, 'ada'],
  ['property.vip', 'is', true, 'ada'],
  ['property.vip', 'is_not', 'true', 'ben cy'],
  ['property.a "b" \\c', 'is', 'x', 'ada'],
  ["property.' or true --", 'exists', true, ''],
  ['language', 'is', 'de', 'ada'],
  ['language', 'is_not', 'de', 'ben cy'],
  ['language', 'contains', 'D', 'ada'],
  ['language', 'exists', true, 'ada'],
  ['last_asked_days', 'gt', 39, 'ada'],
  ['last_asked_days', 'gt', 40, ''],
  ['last_asked_days', 'lt', 41, 'ada ben'],
  ['last_asked_days', 'lt', 40, 'ben'],
  ['last_asked_days', 'is', 40, 'ada'],
  ['last_asked_days', 'is', 0, 'ben'],
  ['last_asked_days', 'is_not', 0, 'ada cy'],
  ['last_asked_days', 'exists', false, 'cy'],
  ['last_asked_days', 'lt', '9'.repeat(30), 'ada ben'],
  ['last_score', 'is', 3, 'ada'],
  ['last_score', 'gt', 3, 'ben'],
  ['last_score', 'is_not', 3, 'ben cy'],
  ['last_score', 'exists', true, 'ada ben'],
  ['last_category', 'is', 'detractor', 'ada'],
  ['last_category', 'is_not', 'promoter', 'ada cy'],
  ['tag', 'is', tag!.id, 'ben'],
  ['tag', 'is_not', tag!.id, 'ada cy'],
  ['tag', 'exists', true, 'ben'],
  ['survey_id', 'is', second, 'ada'],
  ['survey_id', 'is_not', second, 'ben cy'],
  ['survey_id', 'exists', false, 'cy'],
];

for (const [field, op, value, expected] of table) {
  test(
    `a filter finds people when ${field} ${op} ${String(value).slice(0, 20)}`.slice(0, 70),
    async () => {
      assert.equal(await match([{ field, op, value }]), expected);
    },
  );
}

test('a filter requires all conditions, and an empty one matches everybody', async () => {
  assert.equal(await match([]), 'ada ben cy');
  assert.equal(
    await match([
      { field: 'property.city', op: 'contains', value: '50' },
      { field: 'last_score', op: 'gt', value: 5 },
    ]),
    'ben',
  );
});

const wrong: [condition: unknown, sentence: RegExp][] = [
  [{ field: 'plan', op: 'is', value: 'pro' }, /all\.0\.field: "plan" is not a field/],
  [{ field: 'property.', op: 'exists' }, /all\.0\.field/],
  [{ field: 'constructor', op: 'exists' }, /all\.0\.field/],
  [{ field: 'property.plan', op: 'like', value: 'x' }, /all\.0\.op: must be one of is, is_not/],
  [{ field: 'tag', op: 'gt', value: '1' }, /all\.0\.op: gt does not apply to tag/],
  [{ field: 'tag', op: 'is', value: 'vip' }, /all\.0\.value: must be a UUID/],
  [{ field: 'last_score', op: 'is', value: 'high' }, /all\.0\.value: must be a number/],
  [{ field: 'property.seats', op: 'gt', value: 'many' }, /all\.0\.value: must be a number/],
  [{ field: 'last_category', op: 'is', value: 'fan' }, /all\.0\.value: must be one of promoter/],
  [{ field: 'property.plan', op: 'is' }, /all\.0\.value: a value is required/],
  [
    { field: 'property.plan', op: 'is', value: 'x'.repeat(201) },
    /all\.0\.value: must be at most 200/,
  ],
  [
    { field: 'property.plan', op: 'exists', value: 'maybe' },
    /all\.0\.value: must be true or false/,
  ],
  [{ field: 'property.plan', op: 'is', value: ['a'] }, /all\.0\.value: must be text/],
  ['plan', /all\.0: must be an object/],
];

for (const [condition, sentence] of wrong) {
  test(`a filter refuses ${JSON.stringify(condition).slice(0, 45)}`, () => {
    assert.throws(
      () => parse(FilterInput, { all: [condition] }),
      (error) => error instanceof Refusal && sentence.test(error.message),
    );
  });
}

test('a filter has at most 20 conditions', () => {
  const all = Array.from({ length: 21 }, () => ({ field: 'language', op: 'exists' }));
  assert.throws(() => parse(FilterInput, { all }), /all: must have at most 20 conditions/);
});

test('addAudience adds matching people who are not contacts yet', async () => {
  const surveyId = await makeSurvey(db, org_id);
  await makeContact(db, { org_id, survey_id: surveyId }, { email: 'BEN@people.test', name: 'Old' });
  const survey = { orgId: org_id, surveyId };
  const filter = parse(FilterInput, { all: [{ field: 'property.city', op: 'exists' }] });
  assert.equal(await addAudience(db, survey, filter), 1);
  assert.equal(await addAudience(db, survey, filter), 0);
  const contacts = await db<Record<string, unknown>[]>`
    select email, name, properties ->> 'language' as language, status
    from contacts where survey_id = ${surveyId} order by email_key`;
  assert.deepEqual(contacts[0], {
    email: 'ada@people.test',
    name: 'Ada',
    language: 'de',
    status: 'pending',
  });
  assert.deepEqual([contacts.length, contacts[1]!['name']], [2, 'Old']);
  const [person] =
    await db`select properties from people where org_id = ${org_id} and email_key = 'ada@people.test'`;
  assert.equal('language' in person!['properties'], false);
});
