import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importContacts } from '../../src/contacts/import.ts';
import { saveContacts } from '../../src/contacts/queries.ts';
import { inTransaction } from '../../src/lib/db/db.ts';
import { savePeople } from '../../src/people/save.ts';
import { makeOrganization, makeSurvey, writeKeyOf } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function scene() {
  const orgId = await makeOrganization(db);
  return { orgId, surveyId: await makeSurvey(db, orgId) };
}

const people = async (orgId: string) => [
  ...(await db<Record<string, unknown>[]>`
    select email, name, properties, language from people where org_id = ${orgId} order by email_key`),
];

const contact = (email: string, over: object = {}) => ({
  email,
  name: null,
  properties: {},
  ...over,
});

test('a person has the latest name and properties of its contacts', async () => {
  const first = await scene();
  const second = { ...first, surveyId: await makeSurvey(db, first.orgId) };
  await saveContacts(db, first, [
    contact('Ada@people.test', { name: 'Ada', properties: { plan: 'free', seats: 3 } }),
    contact('ben@people.test', { properties: { language: 'de' } }),
  ]);
  await saveContacts(db, second, [
    contact('ada@people.test', { properties: { plan: 'pro', language: 'fr' } }),
  ]);
  assert.deepEqual(await people(first.orgId), [
    {
      email: 'Ada@people.test',
      name: 'Ada',
      properties: { plan: 'pro', seats: 3, language: 'fr' },
      language: 'fr',
    },
    { email: 'ben@people.test', name: null, properties: { language: 'de' }, language: 'de' },
  ]);
});

test('an earlier value that comes again replaces a newer one', async () => {
  const first = await scene();
  const second = { ...first, surveyId: await makeSurvey(db, first.orgId) };
  for (const [survey, plan] of [
    [first, 'free'],
    [second, 'pro'],
    [first, 'free'],
  ] as const) {
    await saveContacts(db, survey, [contact('ada@people.test', { properties: { plan } })]);
  }
  assert.deepEqual((await people(first.orgId))[0]!['properties'], { plan: 'free' });
});

test('an older answer adds values and replaces none', async () => {
  const survey = await scene();
  const at = (year: number) => new Date(`${year}-01-01T00:00:00Z`);
  const save = (responded_at: Date, properties: object, name: string) =>
    savePeople(db, survey.orgId, [
      { email: 'ada@people.test', name, properties: properties as never, responded_at },
    ]);
  await save(at(2025), { plan: 'pro' }, 'Ada');
  await save(at(2024), { plan: 'free', country: 'DE' }, 'Old Ada');
  assert.deepEqual(await people(survey.orgId), [
    {
      email: 'ada@people.test',
      name: 'Ada',
      properties: { plan: 'pro', country: 'DE' },
      language: null,
    },
  ]);
  await save(at(2026), { plan: 'team' }, 'Ada L');
  const [ada] = await people(survey.orgId);
  assert.deepEqual([ada!['name'], ada!['properties']], ['Ada L', { plan: 'team', country: 'DE' }]);
});

test('values that grow too large together are replaced by the latest', async () => {
  const { orgId } = await scene();
  const big = (name: string) => ({
    email: 'ada@people.test',
    name: null,
    properties: { [name]: 'x'.repeat(9000) },
  });
  await savePeople(db, orgId, [big('one')]);
  await savePeople(db, orgId, [big('two')]);
  const [ada] = await people(orgId);
  assert.deepEqual(Object.keys(ada!['properties'] as object), ['two']);
});

test('a person that does not change is not written', async () => {
  const survey = await scene();
  const save = () =>
    saveContacts(db, survey, [contact('ada@people.test', { name: 'Ada', properties: { a: 1 } })]);
  const version = () =>
    db`select xmin, ctid, updated_at from people where org_id = ${survey.orgId}`;
  await save();
  const before = await version();
  await save();
  assert.deepEqual([...(await version())], [...before]);
});

test('two imports of the same people at once save all of them', async () => {
  const first = await scene();
  const second = { ...first, surveyId: await makeSurvey(db, first.orgId) };
  const emails = Array.from({ length: 2500 }, (_, i) => `p${i}@people.test`);
  const file = (list: readonly string[], plan: string) =>
    ['email,plan', ...list.map((email) => `${email},${plan}`)].join('\n');
  const run = (survey: typeof first, list: readonly string[], plan: string) =>
    importContacts(
      { db, onProgress: () => {} },
      { ...writeKeyOf(survey.orgId), surveyId: survey.surveyId },
      file(list, plan),
    );
  await Promise.all([run(first, emails, 'pro'), run(second, emails.toReversed(), 'free')]);
  const [{ many, plans } = {}] = await db`
    select count(*)::int as many, count(distinct properties ->> 'plan')::int as plans
    from people where org_id = ${first.orgId}`;
  assert.deepEqual({ many, plans }, { many: 2500, plans: 1 });
});

test('saving the same people in another order does not deadlock', async () => {
  const first = await scene();
  const second = { ...first, surveyId: await makeSurvey(db, first.orgId) };
  const rows = Array.from({ length: 300 }, (_, i) => contact(`p${i}@people.test`));
  const save = (survey: typeof first, list: typeof rows, plan: number) =>
    inTransaction(db, (tx) =>
      saveContacts(
        tx,
        survey,
        list.map((row) => ({ ...row, properties: { plan } })),
      ),
    );
  for (let round = 0; round < 20; round++) {
    await Promise.all([save(first, rows, round), save(second, rows.toReversed(), -1 - round)]);
  }
  assert.equal((await people(first.orgId)).length, 300);
});
