import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { countDependents } from '../../src/contacts/erase.ts';
import { importContacts, readContacts } from '../../src/contacts/import.ts';
import { listByAddress } from '../../src/contacts/queries.ts';
import { one } from '../../src/lib/db/db.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function place(org?: string) {
  const org_id = org ?? (await makeOrganization(db));
  return { org_id, survey_id: await makeSurvey(db, org_id) };
}

type Place = Awaited<ReturnType<typeof place>>;

const take = ({ org_id, survey_id }: Place, text: string) =>
  importContacts(
    { db, onProgress: () => {} },
    { ...commandWriter(org_id), surveyId: survey_id },
    text,
  );

const known = 'ann@people.test';
for (const [emails, status] of [
  [[known], 'completed'],
  [[known, 'bob@people.test'], 'active'],
  [['bob@people.test', known], 'active'],
] as const) {
  test(`completed survey is ${status} after an import of ${emails}`, async () => {
    const of = await place();
    await makeContact(db, of, { email: known });
    await db`
      update surveys set status = 'completed', completed_by = 'answers', completed_at = now()
      where id = ${of.survey_id}`;
    await take(of, ['email', ...emails].join('\n'));
    const surveys = await db`select status from surveys where id = ${of.survey_id}`;
    assert.deepEqual([...surveys], [{ status }]);
  });
}

test('import lists invalid lines in file order', async () => {
  await assert.rejects(readContacts('email\nann\nbob@people.test\ncid\n'), {
    message: /:\n {2}line 2: "ann" is not an email address\n {2}line 4: "cid" is not/,
  });
});

test('import ignores properties of the address on another survey', async () => {
  const [ours, other] = [await place(), await place()];
  for (const of of [await place(ours.org_id), other]) {
    const properties = db.json({ one: 'a'.repeat(12_000) });
    await makeContact(db, of, { email: known, properties });
  }
  const survey = { orgId: ours.org_id, surveyId: ours.survey_id };
  assert.deepEqual([...(await listByAddress(db, survey, [known]))], []);
  const taken = await take(ours, `email,two\n${known},${'b'.repeat(8000)}\n`);
  assert.deepEqual(taken, { contacts: 1, erased: 0 });
  assert.equal((await listByAddress(db, survey, [known])).length, 1);
});

test('deleting a contact leaves the rows of other contacts alone', async () => {
  const of = await place();
  const ids = [await makeContact(db, of), await makeContact(db, of), await makeContact(db, of)];
  for (const [at, contact_id] of ids.entries()) {
    for (let n = 0; n <= at; n++) {
      const row = { ...of, contact_id };
      const mail = { email: `${randomUUID()}@people.test`, month: '2026-01-01' };
      await db`insert into mails ${db({ ...row, ...mail, request_id: randomUUID() })}`;
      await db`insert into link_visits ${db({ ...row, kind: 'view', method: 'GET' })}`;
      const campaign = { ...of, name: 'Spring', status: 'running' };
      const { id: campaign_id } = one(
        await db<{ id: string }[]>`insert into campaigns ${db(campaign)} returning id`,
      );
      await db`insert into campaign_contacts ${db({ ...row, campaign_id })}`;
    }
  }
  const counted = await countDependents(db, of.org_id, ids.slice(0, 2));
  assert.deepEqual({ ...counted }, { mails: 3, openings: 3, campaign_results: 3 });
});
