import assert from 'node:assert/strict';
import { test } from 'node:test';
import { savePeople } from '../../src/people/save.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function scene(role: 'viewer' | 'editor' = 'editor') {
  const org = await makeOrganization(db);
  const browser = await memberBrowser(db, { app, org, role });
  await savePeople(db, org, [
    { email: 'ada@people.test', name: 'Ada', properties: { plan: 'pro', seats: 5 } },
    { email: 'ben@people.test', name: 'Ben', properties: { plan: 'free' } },
  ]);
  const path = `${browser.home}/people`;
  const text = async (rest: string) => await (await browser.get(`${path}${rest}`)).text();
  const idOf = async (email: string) =>
    (
      await db<{ id: string }[]>`select id from people where org_id = ${org} and email = ${email}`
    )[0]!.id;
  return { ...browser, org, path, text, idOf };
}

const isPro = { field_0: 'property', property_0: 'plan', op_0: 'is', value_0: 'pro' };

test('a segment is built row by row and filters the list of people', async () => {
  const { org, path, post, text } = await scene();
  const more = await post(`${path}/segments/new`, { ...isPro, name: 'Pro', do: 'add' });
  const rows = await more.text();
  assert.match(rows, /name="field_1"/);
  assert.match(rows, /1 person matches/);
  const less = await (await post(`${path}/segments/new`, { ...isPro, do: 'remove_0' })).text();
  assert.doesNotMatch(less, /value="plan"/);
  const saved = await post(`${path}/segments/new`, { ...isPro, name: 'Pro', do: 'save' });
  assert.equal(saved.status, 303);
  const [segment] = await db<{ id: string; filter: unknown }[]>`
    select id, filter from segments where org_id = ${org}`;
  assert.deepEqual(segment!.filter, { all: [{ field: 'property.plan', op: 'is', value: 'pro' }] });
  const shown = await text(`/segments/${segment!.id}`);
  assert.match(shown, /1 person matches/);
  assert.match(shown, /ada@people\.test/);
  const counted = await text(
    `/segments/${segment!.id}?field_0=property&property_0=seats&op_0=missing&value_0=`,
  );
  assert.match(counted, /1 person matches/);
  assert.match(counted, /ben@people\.test/);
  const list = await text(`?segment=${segment!.id}`);
  assert.match(list, /ada@people\.test/);
  assert.doesNotMatch(list, /ben@people\.test/);
  assert.match(await text('?property=plan%3Dfree'), /ben@people\.test/);
  assert.equal((await post(`${path}/segments/${segment!.id}/delete`)).status, 303);
  assert.match(await text('/segments'), /No segments yet/);
});

test('a segment names the wrong field and keeps typed values', async () => {
  const { path, post } = await scene();
  const wrong = {
    field_0: 'last_score',
    property_0: '',
    op_0: 'gt',
    value_0: 'many',
    name: 'Fans',
  };
  const answer = await post(`${path}/segments/new`, wrong);
  assert.equal(answer.status, 422);
  const page = await answer.text();
  assert.match(page, /id="value_0-error"[^<]*>[\s\S]{0,200}Must be a number/);
  assert.match(page, /value="Fans"/);
  const none = await post(`${path}/segments/new`, { name: '', field_0: 'property' });
  assert.match(await none.text(), /Enter at least one condition/);
});

test('a person can be edited, and other values keep their type', async () => {
  const { org, path, post, idOf, text } = await scene();
  const id = await idOf('ada@people.test');
  assert.match(await text(`/${id}`), /plan = pro\nseats = 5/);
  const saved = await post(`${path}/${id}`, {
    name: 'Ada L',
    language: 'de',
    properties: 'plan = team\nseats = 5\n',
  });
  assert.equal(saved.status, 303);
  const [row] =
    await db`select name, language, properties from people where org_id = ${org} and id = ${id}`;
  assert.deepEqual(
    { ...row },
    { name: 'Ada L', language: 'de', properties: { plan: 'team', seats: 5 } },
  );
  const wrong = await post(`${path}/${id}`, { name: '', language: 'klingon', properties: '' });
  assert.equal(wrong.status, 422);
  const line = await post(`${path}/${id}`, { properties: 'nonsense' });
  assert.match(await line.text(), /This line has no name and value: nonsense/);
});

test('the form of a person keeps properties that fit in no line', async () => {
  const { org, path, post, idOf, text } = await scene();
  const id = await idOf('ada@people.test');
  const properties = { note: 'one\ntwo = 2', 'a=b': 'x', empty: '', seats: 5, plan: 'pro' };
  await db`update people set properties = ${db.json(properties)} where org_id = ${org} and id = ${id}`;
  const [, shown = ''] = /<textarea[^>]*name="properties"[^>]*>([^<]*)</.exec(
    await text(`/${id}`),
  )!;
  const lines = shown.replaceAll('&quot;', '"').replace('plan = pro', 'plan = team');
  assert.equal((await post(`${path}/${id}`, { name: 'Ada', properties: lines })).status, 303);
  const [row] = await db`select properties from people where org_id = ${org} and id = ${id}`;
  assert.deepEqual(row!['properties'], { ...properties, plan: 'team' });
});

test('people are imported and exported in the app', async () => {
  const { org, path, post, text } = await scene();
  const file = (content: string) => ({ file: new File([content], 'people.csv') });
  const done = await post(`${path}/import`, file('email,plan\ncy@people.test,pro\n'));
  assert.equal(done.status, 303);
  assert.equal((await db`select from people where org_id = ${org}`).length, 3);
  assert.match(await text('/export'), /cy@people\.test,,,"\{""plan"": ""pro""\}"/);
  const wrong = await post(`${path}/import`, file('email\nnobody\n'));
  assert.equal(wrong.status, 422);
  assert.match(await wrong.text(), /line 2: &quot;nobody&quot; is not an email address/);
});
