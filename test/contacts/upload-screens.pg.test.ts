import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

test('contact screen shows a refusal as a sentence', async () => {
  const org = await makeOrganization(db);
  const closed = { status: 'completed', completed_by: 'hand', completed_at: new Date() };
  const survey = await makeSurvey(db, org, closed);
  const { home, post } = await memberBrowser(db, { app, org, role: 'editor' });
  const answer = await post(`${home}/surveys/${survey}/contacts`, { email: 'ann@people.test' });
  assert.equal(answer.status, 422);
  const html = (await answer.text()).replaceAll(/<[^>]*>/g, '|');
  assert.ok(html.includes('|The survey is closed, so you cannot add contacts.|'), html);
});

for (const [bytes, status] of [
  [33 * 1024 * 1024, 303],
  [33 * 1024 * 1024 + 1, 413],
] as const) {
  test(`upload of ${bytes} bytes is answered ${status}`, async () => {
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
