import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveContacts } from '../../src/contacts/queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const at = (day: string) => new Date(`2026-05-${day}T00:00:00Z`);

type Answered = { name?: string | null; plan?: string; day: string };

/** Imported answers of a contact in order, with its expected state. */
const answers: [what: string, given: Answered[], known: Answered][] = [
  [
    'a later answer',
    [
      { name: 'Ann', plan: 'free', day: '03' },
      { name: 'Eve', plan: 'pro', day: '05' },
    ],
    { name: 'Eve', plan: 'pro', day: '05' },
  ],
  [
    'an earlier answer',
    [
      { name: 'Eve', plan: 'pro', day: '05' },
      { name: 'Ann', plan: 'free', day: '03' },
    ],
    { name: 'Eve', plan: 'pro', day: '05' },
  ],
  [
    'another answer of the same time',
    [
      { name: 'Ann', plan: 'free', day: '03' },
      { name: 'Eve', plan: 'pro', day: '03' },
    ],
    { name: 'Ann', plan: 'free', day: '03' },
  ],
  ['a later answer that says no more', [{ day: '03' }, { day: '05' }], { day: '05' }],
  [
    'an earlier answer that says more',
    [{ day: '05' }, { name: 'Ann', plan: 'free', day: '03' }],
    { name: 'Ann', plan: 'free', day: '05' },
  ],
  [
    'the same answer with a name',
    [{ day: '03' }, { name: 'Ann', day: '03' }],
    { name: 'Ann', day: '03' },
  ],
];
for (const [what, given, { name = null, plan, day }] of answers) {
  test(`import adds the answer of a contact from elsewhere after ${what}`, async () => {
    const orgId = await makeOrganization(db);
    const survey = { orgId, surveyId: await makeSurvey(db, orgId) };
    for (const each of given) await saveContacts(db, survey, [answeredOf(each)]);
    const [contact] = await db`
      select name, properties, responded_at from contacts where survey_id = ${survey.surveyId}`;
    const properties = plan ? { plan } : {};
    assert.deepEqual({ ...contact }, { name, properties, responded_at: at(day) });
  });
}

const answeredOf = ({ name = null, plan, day }: Answered) => ({
  email: 'ann@people.test',
  name,
  properties: plan ? { plan } : {},
  status: 'responded' as const,
  responded_at: at(day),
});

test('import leaves a contact alone when its answer is not newer', async () => {
  const orgId = await makeOrganization(db);
  const survey = { orgId, surveyId: await makeSurvey(db, orgId) };
  const changed = async (each: Answered) => {
    await saveContacts(db, survey, [answeredOf(each)]);
    const [row] = await db`select updated_at from contacts where survey_id = ${survey.surveyId}`;
    return (row!['updated_at'] as Date).getTime();
  };
  await changed({ name: 'Ann', plan: 'free', day: '05' });
  await db`update contacts set updated_at = ${at('01')} where survey_id = ${survey.surveyId}`;
  for (const same of [
    { name: 'Ann', plan: 'free', day: '05' },
    { name: 'Ann', plan: 'free', day: '03' },
    { name: 'Eve', plan: 'pro', day: '03' },
  ]) {
    assert.equal(await changed(same), at('01').getTime());
  }
});
