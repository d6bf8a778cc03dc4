import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertRejects } from '../../src/contacts/upload.queries.ts';
import { takeUpload } from '../../src/contacts/upload.ts';
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
    '',
    '',
    '--part',
    'Content-Disposition: form-data; name="list"',
    '',
    '',
    '--part--',
    '',
  ].join('\r\n');

for (const [count, shown] of [
  [0, 0],
  [1, 1],
  [101, 100],
] as const) {
  test(`of ${count} lines that were left out of a list ${shown} are shown`, async () => {
    const orgId = await makeOrganization(db);
    const surveyId = await makeSurvey(db, orgId);
    const { home, get } = await memberBrowser(db, { app, org: orgId, role: 'editor' });
    const bytes = new TextEncoder().encode('ann@people.test');
    const uploadId = await takeUpload({ db }, { orgId, surveyId }, { name: 'list.csv', bytes });
    const lines = Array.from({ length: count }, (_, place) => place + 2);
    const rejects = lines.map((line) => ({ line, value: `value-${line}.`, reason: 'bad' }));
    await insertRejects(db, { orgId, uploadId }, rejects);
    await db`
      update contact_uploads set imported_at = now(), added = 1, known = 0, repeated = 0
      where id = ${uploadId}`;
    const path = `${home}/surveys/${surveyId}/contacts/uploads/${uploadId}`;
    const html = await (await get(path)).text();
    assert.equal(html.match(/value-\d+\./g)?.length ?? 0, shown);
    assert.equal(html.includes('id="rejects"'), shown > 0);
  });
}

test('what is refused of a contact is said as a sentence', async () => {
  const org = await makeOrganization(db);
  const closed = { status: 'completed', completed_by: 'hand', completed_at: new Date() };
  const survey = await makeSurvey(db, org, closed);
  const { home, post } = await memberBrowser(db, { app, org, role: 'editor' });
  const answer = await post(`${home}/surveys/${survey}/contacts`, { email: 'ann@people.test' });
  assert.equal(answer.status, 422);
  const html = (await answer.text()).replaceAll(/<[^>]*>/g, '|');
  assert.ok(html.includes('|The survey is closed: it takes no more contacts.|'), html);
});

for (const [bytes, status] of [
  [33 * 1024 * 1024, 303],
  [33 * 1024 * 1024 + 1, 413],
] as const) {
  test(`a form with a list that says it has ${bytes} bytes is answered ${status}`, async () => {
    const org = await makeOrganization(db);
    const survey = await makeSurvey(db, org);
    const { home, request } = await memberBrowser(db, { app, org, role: 'editor' });
    const path = `${home}/surveys/${survey}/contacts/uploads`;
    const type = 'application/x-www-form-urlencoded';
    const headers = { 'Content-Type': type, 'Content-Length': String(bytes) };
    const answer = await request(path, { method: 'POST', headers, body: 'list=ann%40people.test' });
    assert.equal(answer.status, status);
  });
}
