import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function scene(role: 'viewer' | 'editor' = 'editor') {
  const org = await makeOrganization(db);
  const browser = await memberBrowser(db, { app, org, role });
  const list = `${browser.home}/settings/canned-texts`;
  const idOf = async (name: string) => {
    const [row] = await db<{ id: string }[]>`
      select id from canned_texts where org_id = ${org} and name = ${name}`;
    return row?.id;
  };
  return { ...browser, org, list, idOf };
}

test('editors add, edit and delete canned texts', async () => {
  const { list, submit, get, post, idOf } = await scene();
  assert.match(await (await get(list)).text(), /No canned texts yet/);
  const created = await submit(list, { name: 'Thanks', text: 'Thank <you>' });
  assert.match(await created.text(), /Canned text “Thanks” created\.[\s\S]*Thank &lt;you&gt;/);
  const twice = await post(list, { name: 'Thanks', text: 'again' });
  assert.equal(twice.status, 422);
  assert.match(await twice.text(), /already has a canned text named Thanks/);
  assert.equal((await post(list, { name: 'Empty', text: ' ' })).status, 422);
  const id = await idOf('Thanks');
  const changed = await submit(`${list}/${id}`, { name: 'Thanks', text: 'Many thanks' });
  assert.match(await changed.text(), /Many thanks/);
  assert.match(await (await get(`${list}/${id}/delete`)).text(), /Members can no longer insert it/);
  await submit(`${list}/${id}/delete`);
  assert.equal(await idOf('Thanks'), undefined);
});

test('an older form does not overwrite a canned text', async () => {
  const { list, post, get, submit, idOf } = await scene();
  await post(list, { name: 'Thanks', text: 'one' });
  const path = `${list}/${await idOf('Thanks')}`;
  const [, version] = /name="version" value="([^"]+)"/.exec(await (await get(path)).text())!;
  await submit(path, { name: 'Thanks', text: 'two', version: version! });
  const late = await post(path, { name: 'Thanks', text: 'three', version: version! });
  assert.equal(late.status, 422);
  assert.match(await late.text(), /Current value: two/);
});

test('an organization has at most 100 canned texts', async () => {
  const { org, list, post } = await scene();
  await db`
    insert into canned_texts (org_id, name, text)
    select ${org}, 'text ' || n, 'x' from generate_series(1, 100) n`;
  const refused = await post(list, { name: 'one more', text: 'x' });
  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /at most 100 canned texts/);
});

test('viewers and other organizations cannot change canned texts', async () => {
  const [mine, viewer] = [await scene(), await scene('viewer')];
  await mine.post(mine.list, { name: 'Thanks', text: 'x' });
  const id = await mine.idOf('Thanks');
  assert.equal((await viewer.get(viewer.list)).status, 200);
  assert.equal((await viewer.post(viewer.list, { name: 'a', text: 'b' })).status, 403);
  const other = await scene();
  for (const path of [`${other.list}/${id}`, `${other.list}/${id}/delete`]) {
    assert.equal((await other.get(path)).status, 404);
    assert.equal((await other.post(path, { name: 'a', text: 'b' })).status, 404);
  }
  assert.equal(await mine.idOf('Thanks'), id);
});

test('a canned text is inserted after the typed reply without JavaScript', async () => {
  const { org, home, list, post, get, idOf } = await scene();
  await post(list, { name: 'Thanks', text: 'Many <thanks>' });
  const of = { org_id: org, survey_id: await makeSurvey(db, org) };
  const response = await makeResponse(db, of, { contact_id: await makeContact(db, of) });
  const path = `${home}/responses/${response}`;
  assert.match(await (await get(path)).text(), /name="do" value="insert"/);
  const form = { reply_id: randomUUID(), reply: 'Hi', done: 'on', do: 'insert' };
  const answer = await post(`${path}/replies`, { ...form, canned: (await idOf('Thanks'))! });
  assert.equal(answer.status, 200);
  const page = await answer.text();
  assert.match(page, /Hi\n\nMany &lt;thanks&gt;\s*<\/textarea>/);
  assert.match(page, new RegExp(`name="reply_id" value="${form.reply_id}"`));
  assert.match(page, /id="done"[^>]* checked/);
  const none = await post(`${path}/replies`, { ...form, canned: 'none' });
  assert.match(await none.text(), />\s*Hi\s*<\/textarea>/);
  assert.equal((await db`select from replies where org_id = ${org}`).length, 0);
});
