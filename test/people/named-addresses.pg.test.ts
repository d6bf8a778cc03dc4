import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listAddressesOf } from '../../src/people/erase.queries.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

type Place = { org_id: string; survey_id: string };

/** Every column that may contain an address, each with a row. */
const places: Record<string, (of: Place, email: string) => Promise<unknown>> = {
  'a contact': (of, email) => makeContact(db, of, { email }),
  'the name of another contact': (of, email) =>
    makeContact(db, of, { email: 'bob@other.test', name: `Bob (${email})` }),
  'a property of another contact': (of, email) =>
    makeContact(db, of, { email: 'cy@other.test', properties: db.json({ by: `of\n${email}` }) }),
  'a suppression': ({ org_id }, email) =>
    db`insert into suppressions ${db({ org_id, email, kind: 'bounced' })}`,
  'a comment': (of, email) => makeResponse(db, of, { comment: `Ask ${email}, please.` }),
  'a property of a response': (of, email) =>
    makeResponse(db, of, { properties: db.json({ email: `<${email}>` }) }),
  'a note': async ({ org_id, survey_id }, email) => {
    const response_id = await makeResponse(db, { org_id, survey_id });
    const text = `wrote to ${email.toUpperCase()} twice`;
    await db`insert into response_notes ${db({ org_id, response_id, text, author: 'Bo', author_kind: 'member' })}`;
  },
};

for (const [where, put] of Object.entries(places)) {
  test(`address in ${where} is found by its hash`, async () => {
    const [ours, theirs] = [await makeOrganization(db), await makeOrganization(db)];
    const email = 'ada.b+c@people.test';
    for (const org_id of [ours, theirs]) {
      const survey_id = await makeSurvey(db, org_id);
      if (org_id === ours) await put({ org_id, survey_id }, email);
    }
    const found = async (org: string) => {
      const [row] = await db<{ hash: string }[]>`
        select encode(address_hash(${org}, ${email}), 'hex') as hash`;
      return [...(await listAddressesOf(db, org, [row!.hash])).values()];
    };
    assert.deepEqual(await found(ours), [email]);
    assert.deepEqual(await found(theirs), []);
  });
}
