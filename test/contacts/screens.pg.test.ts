import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listContactsOf } from '../../src/contacts/queries.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = testApp(db);

test('empty contact list says when contacts get the survey', async () => {
  const org = await makeOrganization(db);
  const { home, get } = await memberBrowser(db, { app, org, role: 'viewer' });
  for (const [ask_after_days, means] of [
    [null, 'Nothing is sent until you press Send.'],
    [0, 'sent to each contact as soon as you add it.'],
    [1, 'sent to each contact 1 day after you add it.'],
    [30, 'sent to each contact 30 days after you add it.'],
  ] as const) {
    const survey = await makeSurvey(db, org, {
      ask_after_days,
      ask_after_days_since: ask_after_days === null ? null : new Date(),
    });
    const html = await (await get(`${home}/surveys/${survey}/contacts`)).text();
    assert.ok(html.includes(means), means);
    assert.equal(html.includes('Nothing is sent'), ask_after_days === null);
  }
});

test('contact page lists one survey, newest first, with its total', async () => {
  const org_id = await makeOrganization(db);
  const surveys = [await makeSurvey(db, org_id), await makeSurvey(db, org_id)] as const;
  const ids = new Map<string, string[]>(surveys.map((id) => [id, []]));
  for (const day of [1, 2, 3, 4, 5]) {
    const survey_id = surveys[day % 2]!;
    const created_at = `2026-05-0${day}T12:00:00Z`;
    const email = `p${day}@people.test`;
    ids
      .get(survey_id)!
      .unshift(await makeContact(db, { org_id, survey_id }, { email, name: 'Ann', created_at }));
  }
  for (const surveyId of surveys) {
    for (const search of ['', 'ann']) {
      const pages = [1, 2].map((page) =>
        listContactsOf(db, { orgId: org_id, surveyId }, { page: { page, limit: 2 }, search }),
      );
      const found = await Promise.all(pages);
      const shown = found.flatMap(({ contacts }) => contacts.map(({ id }) => id));
      const own = ids.get(surveyId)!;
      assert.deepEqual(shown, own);
      assert.deepEqual(new Set(found.map(({ total }) => total)), new Set([own.length]));
    }
  }
});

test('editor deletes a contact after a confirmation', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const id = await makeContact(db, { org_id, survey_id }, { email: 'ann@people.test' });
  const { home, get, submit } = await memberBrowser(db, { app, org: org_id, role: 'editor' });
  const list = `${home}/surveys/${survey_id}/contacts`;
  assert.match(await (await get(list)).text(), new RegExp(`href="${list}/${id}/delete"`));
  const asked = await (await get(`${list}/${id}/delete`)).text();
  assert.match(asked, /with its emails and responses/);
  assert.match(await (await submit(`${list}/${id}/delete`)).text(), /Contact deleted/);
  assert.equal((await db`select from contacts where id = ${id}`).length, 0);
});

test('editor maps, imports and deletes a list', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const { home, get, post, submit } = await memberBrowser(db, { app, org: org_id, role: 'editor' });
  const contacts = `${home}/surveys/${survey_id}/contacts`;
  const pasted = 'mail;contact;Sprache\nann@people.test;ben@people.test;de\nbad;;\n';
  const uploaded = await post(`${contacts}/uploads`, { list: pasted });
  const path = uploaded.headers.get('Location')!;
  const columns = await (await get(path)).text();
  assert.match(columns, /No column seems to contain names/);
  assert.match(columns, /id="column_2"[\s\S]*value="language" selected/);

  const twice = { column_0: 'email', column_1: 'email', column_2: 'language', header: 'on' };
  const refused = await post(path, twice);
  assert.equal(refused.status, 422);
  const again = await refused.text();
  assert.match(again, /Choose one column for Email/);
  assert.match(again, /id="column_1"[\s\S]*value="email" selected/);

  const imported = await submit(path, { ...twice, column_1: 'skip' });
  assert.match(await imported.text(), /1 contact added, 0 already on the list, 1 row skipped/);
  const [ann] = await db`select properties from contacts where survey_id = ${survey_id}`;
  assert.deepEqual(ann?.['properties'], { language: 'de' });
  assert.match(await (await get(`${path}/delete`)).text(), /the 1 contact that this list added/);
  assert.match(await (await submit(`${path}/delete`)).text(), /List and 1 contact deleted/);
  assert.equal((await db`select from contacts where survey_id = ${survey_id}`).length, 0);
});
