import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function visitor() {
  const org = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org);
  const contact_id = await makeContact(db, { org_id: org, survey_id });
  const id = await makeResponse(db, { org_id: org, survey_id }, { contact_id });
  const member = await memberBrowser(db, { app, org, role: 'owner' });
  const post = async (path: string, body: URLSearchParams | FormData | string, headers = {}) => {
    const answer = await app.request(`${member.home}${path}`, { method: 'POST', body, headers });
    assert.equal(answer.status, 403);
    return await answer.text();
  };
  return { ...member, id, post };
}

test('a note posted after the session ended can be sent again', async () => {
  const { home, id, post, submit } = await visitor();
  const text = '\nCalled her: "refund"\n<b>on Monday</b>';
  const page = await post(`/responses/${id}/notes?search=slow`, new URLSearchParams({ text }));
  const action = `${home}/responses/${id}/notes?search=slow`;
  assert.ok(page.includes(`<form method="post" action="${action}">`));
  const [, kept = ''] = /<input type="hidden" name="text" value="([^"]*)"/.exec(page) ?? [];
  assert.equal(plain(kept), text);
  assert.match(page, /Send again/);
  assert.match(await (await submit(action, { text: plain(kept) })).text(), /Note added/);
});

test('a form with a secret or file is not sent back after sign-in', async () => {
  const { post } = await visitor();
  const upload = new FormData();
  upload.append('name', 'Spring');
  upload.append('file', new File(['a'], 'a.csv'));
  const Referer = 'http://127.0.0.1/o/acme/settings/general?tab=2';
  for (const body of [new URLSearchParams({ name: 'me', new_password: 'swordfish' }), upload, '']) {
    const page = await post('/settings/general', body, { Referer });
    assert.doesNotMatch(page, /Send again|swordfish|Spring/);
    assert.ok(page.includes('/sign-in?next=%2Fo%2Facme%2Fsettings%2Fgeneral%3Ftab%3D2'));
  }
});

test('a form that requires a new proof can be sent again after the proof', async () => {
  const org = await makeOrganization(db);
  const { home, submit, post } = await memberBrowser(db, { app, org, role: 'owner' });
  const provedBefore = (ago: string) => db`
    update sessions set proved_at = now() - ${ago}::interval
    where member_id in (select member_id from memberships where org_id = ${org})`;
  await provedBefore('61 minutes');
  const members = `${home}/settings/members`;
  const refused = await post(members, { email: 'bo@acme.test', role: 'editor' });
  assert.equal(refused.status, 403);
  const page = await refused.text();
  assert.ok(page.includes(`<form method="post" action="${members}">`));
  assert.match(page, /<input type="hidden" name="email" value="bo@acme.test"/);
  assert.match(page, /href="\/account\/prove" target="_blank"/);
  await provedBefore('0 minutes');
  const again = await submit(members, { email: 'bo@acme.test', role: 'editor' });
  assert.match(await again.text(), /bo@acme\.test/);
});

const plain = (html: string) =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
