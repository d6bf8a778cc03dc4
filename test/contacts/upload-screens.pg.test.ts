import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

for (const [what, name, complaint] of [
  ['no chosen file', '', 'Choose a file, or paste a list.'],
  ['an empty file', 'people.csv', 'The file people.csv is empty.'],
] as const) {
  test(`an upload with ${what} says so`, async () => {
    const org = await makeOrganization(db);
    const survey = await makeSurvey(db, org);
    const { home, request } = await memberBrowser(db, { app, org, role: 'editor' });
    const path = `${home}/surveys/${survey}/contacts/uploads`;
    const headers = { 'Content-Type': 'multipart/form-data; boundary=part' };
    const answer = await request(path, { method: 'POST', headers, body: emptyForm(name) });
    assert.equal(answer.status, 422);
    assert.ok((await answer.text()).includes(complaint));
  });
}

/** As browsers send it: also a field without a chosen file is there, without a name. */
const emptyForm = (fileName: string) =>
  [
    '--part',
    `Content-Disposition: form-data; name="file"; filename="${fileName}"`,
    'Content-Type: application/octet-stream',
    ...['', '', '--part'],
    'Content-Disposition: form-data; name="list"',
    ...['', '', '--part--', ''],
  ].join('\r\n');
