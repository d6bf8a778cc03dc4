import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

/** Writes for several organizations at once, each with a different erased person. */
const { db } = await testDatabase();
const [ada, bob] = ['ada@erased.test', 'bob@erased.test'];

async function makeOf(erased: string) {
  const org_id = await makeOrganization(db);
  await db`
    insert into erasures (org_id, address_hash, scores, counts)
    values (${org_id}, address_hash(${org_id}, ${erased}), 'kept', '{}')`;
  return { org_id, survey_id: await makeSurvey(db, org_id) };
}

const [withoutAda, withoutBob] = [await makeOf(ada), await makeOf(bob)];

/** Adds contacts of both organizations in one statement. */
const add = async (first: string, second: string) =>
  (
    await db`
      insert into contacts ${db([
        { ...withoutAda, email: first, token: randomUUID() },
        { ...withoutBob, email: second, token: randomUUID() },
      ])}
      returning id`
  ).length;

test('erased address is refused only by its organization', async () => {
  const refused = { constraint_name: 'contacts_are_not_erased' };
  await assert.rejects(add('Ada@Erased.test', 'cyd@people.test'), refused);
  await assert.rejects(add('cyd@people.test', bob), refused);
  assert.equal(await add('Bob@erased.test', ada), 2);
});

test('erased address is redacted only in its organization', async () => {
  const comment = 'Ask ADA@Erased.test or Bob@ERASED.test.';
  const hidden = [
    [withoutAda, 'Ask [email] or Bob@ERASED.test.'],
    [withoutBob, 'Ask ADA@Erased.test or [email].'],
  ] as const;
  for (const [of, wanted] of hidden) {
    const id = await makeResponse(db, of, { comment });
    const [row] = await db`select comment from responses where id = ${id}`;
    assert.equal(row?.['comment'], wanted);
  }
});
