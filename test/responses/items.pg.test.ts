import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

const hard = 'a "quote", a \\ backslash,\na line, a\ttab, \u0001, </script>, ü and 🦉';

/** A response with everything that one can have, each text as hard as its column allows. */
async function makeFullResponse(orgId: string, surveyId: string) {
  const contactId = await makeContact(
    db,
    { org_id: orgId, survey_id: surveyId },
    {
      email: '"o\\"dd"@loop.test',
      name: hard,
      properties: json(db, { plan: 'a "quote"', seats: 3 }),
    },
  );
  const [member] = await db<{ id: string }[]>`
    insert into members (email, name) values (${`"a\\"nn"@${orgId}.test`}, 'Ann') returning id`;
  await db`insert into memberships (org_id, member_id, role) values (${orgId}, ${member!.id}, 'editor')`;
  const id = await makeResponse(
    db,
    { org_id: orgId, survey_id: surveyId },
    {
      category: 'detractor',
      score: 0,
      comment: hard,
      contact_id: contactId,
      language: 'de',
      owner_id: member!.id,
    },
  );
  await db`
    insert into analyses (org_id, response_id, sentiment, themes, churn_risk, summary, provider)
    values (${orgId}, ${id}, 'mixed', ${[hard, 'price']}, 'high', ${hard}, 'built-in')`;
  for (const name of ['zeal', hard]) {
    await db`
      with tag as (
        insert into tags (org_id, name, color) values (${orgId}, ${name}, '#2f6fed') returning id
      )
      insert into response_tags (org_id, response_id, tag_id) select ${orgId}, ${id}, id from tag`;
  }
}

test('a list shows each response as it is shown alone, whatever stands in its texts', async () => {
  const { id: orgId, read } = await makeClient(db);
  const surveyId = await makeSurvey(db, orgId, { name: hard });
  await makeFullResponse(orgId, surveyId);
  await makeResponse(db, { org_id: orgId, survey_id: surveyId });
  await makeResponse(db, { org_id: orgId, survey_id: surveyId }, { held_reason: 'scanner' });
  const { json: get, list } = reader(app, read);
  let compared = 0;
  for (const query of [
    '',
    '?held=true',
    `?survey_id=${surveyId}`,
    '?search=backslash',
    '?limit=1',
  ]) {
    for (const item of (await list(`/api/v1/responses${query}`)).data) {
      const { data } = await get<{ data: typeof item }>(`/api/v1/responses/${item.id}`);
      const { notes, ...alone } = data;
      assert.deepEqual(Object.entries(item), Object.entries(alone));
      assert.deepEqual(notes, []);
      compared += 1;
    }
  }
  assert.equal(compared, 2 + 1 + 2 + 1 + 1);
});
