import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { markAnsweredMany } from '../../src/contacts/answered.queries.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const at = (day: string) => new Date(`2026-05-${day}T00:00:00Z`);

test('contacts keep the time of their latest answer, whatever order answers come in', async () => {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  const of = { org_id: orgId, survey_id: surveyId };
  const [twice, before, other] = [
    await makeContact(db, of),
    await makeContact(db, { ...of }, { status: 'responded', responded_at: at('20') }),
    await makeContact(db, of),
  ];
  await markAnsweredMany(db, { orgId, surveyId }, [
    { contact_id: twice, created_at: at('03') },
    { contact_id: twice, created_at: at('09') },
    { contact_id: twice, created_at: at('05') },
    { contact_id: before, created_at: at('07') },
    { contact_id: null, created_at: at('30') },
  ]);
  const times = new Map(
    (
      await db<{ id: string; responded_at: Date | null; status: string }[]>`
        select id, responded_at, status from contacts where survey_id = ${surveyId}`
    ).map(({ id, responded_at }) => [id, responded_at?.toISOString().slice(8, 10)]),
  );
  assert.deepEqual(
    [times.get(twice), times.get(before), times.get(other)],
    ['09', '20', undefined],
  );
});

test("answers of another organization's contact mark none", async () => {
  const [ours, theirs] = [await makeOrganization(db), await makeOrganization(db)];
  const surveyId = await makeSurvey(db, theirs);
  const contact_id = await makeContact(db, { org_id: theirs, survey_id: surveyId });
  const answers = [{ contact_id, created_at: at('01') }];
  await markAnsweredMany(db, { orgId: ours, surveyId }, answers);
  await markAnsweredMany(db, { orgId: theirs, surveyId: randomUUID() }, answers);
  const [contact] = await db`select status from contacts where id = ${contact_id}`;
  assert.equal(contact!['status'], 'pending');
});
