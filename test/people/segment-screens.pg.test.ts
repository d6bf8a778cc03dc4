import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { savePeople } from '../../src/people/save.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { makeZip, workbookParts } from '../support/make/workbook.ts';
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
  assert.doesNotMatch(less, /value="pro"/);
  const saved = await post(`${path}/segments/new`, { ...isPro, name: 'Pro', do: 'save' });
  assert.equal(saved.status, 303);
  const [segment] = await db<{ id: string; filter: unknown }[]>`
    select id, filter from segments where org_id = ${org}`;
  assert.deepEqual(segment!.filter, { all: [{ field: 'property.plan', op: 'is', value: 'pro' }] });
  const shown = await text(`/segments/${segment!.id}`);
  assert.match(shown, /1 person matches/);
  assert.match(shown, /<bdi>Ada</);
  assert.match(shown, /plan is pro/);
  const counted = await text(
    `/segments/${segment!.id}/edit?field_0=property.seats&op_0=missing&value_0=`,
  );
  assert.match(counted, /1 person matches/);
  assert.match(counted, /<bdi>Ben</);
  const list = await text(`?segment=${segment!.id}`);
  assert.match(list, /<bdi>Ada</);
  assert.doesNotMatch(list, /<bdi>Ben</);
  const free = await text('?property=plan%3Dfree');
  assert.match(free, /<bdi>Ben</);
  assert.match(free, /segments\/new\?field_0=property\.plan&amp;op_0=is&amp;value_0=free/);
  assert.match(await text('/export?property.plan=free'), /ben@people\.test/);
  assert.doesNotMatch(await text('/export?property.plan=free'), /ada@people\.test/);
  assert.equal((await post(`${path}/segments/${segment!.id}/delete`)).status, 303);
  assert.match(await text('/segments'), /No segments yet/);
});

test('pickers offer the properties of people and their values', async () => {
  const { text } = await scene();
  assert.match(await text(''), /<optgroup label="plan"><option value="plan=free">free</);
  const row = 'field_0=property.plan&op_0=is&value_0=';
  const builder = await text(`/segments/new?${row}`);
  assert.match(builder, /<option value="property\.seats">seats</);
  assert.match(builder, /<datalist id="values_0"><option value="free">/);
  assert.doesNotMatch(builder, /name="property_0"/);
  const operators = /name="op_0"[\s\S]*?<\/select>/.exec(
    await text('/segments/new?field_0=tag&op_0=is&value_0='),
  )![0];
  assert.doesNotMatch(operators, /is greater than/);
  assert.match(await text('/segments/new?field_0=constructor&op_0=is&value_0='), /Add condition/);
});

test('a segment names a deleted tag and keeps its condition', async () => {
  const { path, post, text } = await scene();
  const id = randomUUID();
  const saved = await post(`${path}/segments/new`, {
    field_0: 'tag',
    op_0: 'is_not',
    value_0: id,
    name: 'Untagged',
    do: 'save',
  });
  const here = saved.headers.get('location')!.slice(path.length);
  for (const screen of ['/segments', here]) {
    const html = await text(screen);
    assert.match(html, /Tag is not Deleted tag/);
    assert.doesNotMatch(html, new RegExp(id));
  }
  const builder = await text(`${here}/edit`);
  assert.match(builder, /2 people match/);
  assert.match(builder, new RegExp(`<option value="${id}" selected[^>]*>Deleted tag<`));
  const typed = await text('/segments/new?field_0=tag&op_0=is&value_0=pro');
  assert.doesNotMatch(typed, /Deleted tag/);
});

test('a segment lists campaigns and surveys that use it', async () => {
  const { org, path, post, submit, text } = await scene();
  await post(`${path}/segments/new`, { ...isPro, name: 'Pro' });
  const [segment] = await db<{ id: string }[]>`select id from segments where org_id = ${org}`;
  const here = `/segments/${segment!.id}`;
  assert.match(await text(here), /No campaign or repeating survey uses this segment/);
  const repeat = {
    every_days: 90,
    audience: { segment_id: segment!.id },
    per_day: null,
    spread: true,
  };
  const survey = await makeSurvey(db, org, {
    name: 'Loyalty',
    repeat: db.json(repeat),
    repeat_since: new Date(),
  });
  const used = await text(here);
  assert.match(used, new RegExp(`surveys/${survey}/repeat"><bdi>Loyalty<`));
  assert.match(used, new RegExp(`surveys/${survey}/send\\?audience=${segment!.id}"`));
  const refused = await submit(`${path}${here}/delete`);
  assert.match(await refused.text(), /in use by the rounds of the survey Loyalty/);
});

test('a segment that somebody else changed is not overwritten', async () => {
  const { org, path, post, text } = await scene();
  await post(`${path}/segments/new`, { ...isPro, name: 'Pro ada@people.test' });
  const [segment] = await db<{ id: string }[]>`select id from segments where org_id = ${org}`;
  const edit = `/segments/${segment!.id}/edit`;
  const [, version = ''] = /name="version" value="([^"]+)"/.exec(await text(edit))!;
  const other = { ...isPro, value_0: 'free', name: 'Free', version };
  assert.equal((await post(`${path}${edit}`, other)).status, 303);
  const mine = await post(`${path}${edit}`, { ...isPro, value_0: 'team', name: 'Team', version });
  assert.equal(mine.status, 422);
  const page = await mine.text();
  assert.match(page, /somebody else changed this/);
  assert.match(page, /Current value: Free/);
  assert.match(page, /Current value: plan is free/);
  assert.match(page, /value="team"/);
  const [, current = ''] = /name="version" value="([^"]+)"/.exec(page)!;
  const again = { ...isPro, value_0: 'team', name: 'Team', version: current };
  assert.equal((await post(`${path}${edit}`, again)).status, 303);
  const acts = await db<{ name: string }[]>`
    select details ->> 'name' as name from audit_events where org_id = ${org} order by at, id`;
  assert.deepEqual(
    acts.map(({ name }) => name),
    ['Pro a…@people.test', 'Free', 'Team'],
  );
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
  const page = await text(`/${id}`);
  const [, version = ''] = /name="version" value="([^"]+)"/.exec(page)!;
  await db`update people set name = 'Countess' where org_id = ${org} and id = ${id}`;
  const mine = { name: 'Ada', language: 'de', properties: 'plan = team\nseats = 5', version };
  const conflict = await post(`${path}/${id}`, mine);
  assert.equal(conflict.status, 422);
  const shown = await conflict.text();
  assert.match(shown, /<details class="reveal" open/);
  assert.match(shown, /Current value: Countess/);
  assert.doesNotMatch(shown, /Current value: plan/);
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

test('people are imported from the only sheet of a workbook', async () => {
  const { org, path, post } = await scene();
  const cell = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
  const rows = `<row>${cell('Email')}</row><row>${cell('dee@people.test')}</row>`;
  const sheet = { name: 'People', rows };
  const book = (sheets: (typeof sheet)[]) => ({
    file: new File([makeZip(workbookParts({ sheets }))], 'people.xlsx'),
  });
  assert.equal((await post(`${path}/import`, book([sheet]))).status, 303);
  const found = await db`select from people where org_id = ${org} and email = 'dee@people.test'`;
  assert.equal(found.length, 1);
  const two = await post(`${path}/import`, book([sheet, { ...sheet, name: 'Old' }]));
  assert.equal(two.status, 422);
  assert.match(await two.text(), /it has several sheets: save one of them as CSV/);
});
