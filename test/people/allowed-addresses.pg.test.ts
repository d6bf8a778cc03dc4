import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

type Receipt = 'erased' | 'allowed' | 'none';

/** States of two people before a comment mentions both, and the stored comment. */
const cases: [ada: Receipt, bob: Receipt, comment: string][] = [
  ['none', 'none', 'ada@people.test and bob@people.test'],
  ['erased', 'none', '[email] and bob@people.test'],
  ['erased', 'erased', '[email] and [email]'],
  ['erased', 'allowed', '[email] and bob@people.test'],
  ['allowed', 'erased', 'ada@people.test and [email]'],
  ['allowed', 'allowed', 'ada@people.test and bob@people.test'],
];

for (const [ada, bob, comment] of cases) {
  test(`with Ada ${ada} and Bob ${bob}, a later comment has ${comment}`, async () => {
    const [org, other] = [await makeOrganization(db), await makeOrganization(db)];
    for (const [name, receipt] of Object.entries({ ada, bob })) {
      if (receipt === 'none') continue;
      const email = `${name}@people.test`;
      const allowed = receipt === 'allowed' ? new Date() : null;
      await db`
        insert into erasures (org_id, address_hash, scores, counts, allowed_at)
        values (${org}, address_hash(${org}, ${email}), 'kept', '{}', ${allowed})`;
    }
    const said = 'ada@people.test and bob@people.test';
    const stored = async (org_id: string) => {
      const of = { org_id, survey_id: await makeSurvey(db, org_id) };
      const id = await makeResponse(db, of, { comment: said });
      const [row] = await db<{ comment: string }[]>`select comment from responses where id = ${id}`;
      return row!.comment;
    };
    assert.equal(await stored(org), comment);
    assert.equal(await stored(other), said);
  });
}
