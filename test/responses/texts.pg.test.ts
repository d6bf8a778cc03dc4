import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../../src/lib/db/db.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

const content = {
  question_text: 'Happy, {{first_name|dear reader}}?',
  follow_up: json(db, { detractor: 'What went wrong, {{first_name|friend}}?', promoter: 'Why?' }),
  thanks: json(db, {
    promoter: { text: 'Say so, {{name|you}}!', link_url: 'https://reviews.test/a?b=1&c=2' },
    detractor: { text: 'We are sorry.', link_url: 'https://help.test/', link_text: 'Get help' },
  }),
  texts: json(db, { de: { question_text: 'Zufrieden, {{name}}?', thanks: 'Danke <b>!' } }),
};

async function survey(contact: Record<string, unknown> = {}) {
  const org_id = await makeOrganization(db);
  const share_id = crypto.randomUUID();
  const id = await makeSurvey(db, org_id, { ...content, share_id });
  const token = crypto.randomUUID();
  await makeContact(db, { org_id, survey_id: id }, { token, name: 'Ada <i>', ...contact });
  const given = async () =>
    (await db`select language, properties from responses where survey_id = ${id}`)[0];
  return { id, mine: `/s/${token}`, shared: `/f/${share_id}`, framed: `/e/${share_id}`, given };
}

const read = async (path: string, headers: Record<string, string> = {}) =>
  await (await app.request(path, { headers })).text();

async function answer(path: string, fields: Record<string, string>, language = '') {
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Accept-Language': language,
    'X-Forwarded-For': '192.0.2.1',
  };
  const body = new URLSearchParams(fields).toString();
  return await (await app.request(path, { method: 'POST', headers, body })).text();
}

test('the page addresses the contact by name, escaped', async () => {
  const s = await survey();
  const page = await read(s.mine);
  assert.ok(page.includes('Happy, Ada?'));
  const german = await read(s.mine, { 'Accept-Language': 'de' });
  assert.ok(german.includes('Zufrieden, Ada &lt;i&gt;?</h1>'), 'escaped');
  assert.ok(german.includes('<title>Zufrieden, Ada &lt;i&gt;? · Acme</title>'));
  assert.ok((await read(s.shared)).includes('Happy, dear reader?'));
});

test('the language follows the contact, then the browser, then the survey', async () => {
  const german = await survey({ properties: json(db, { language: 'de-AT' }) });
  assert.match(await read(german.mine, { 'Accept-Language': 'fr' }), /<html lang="de"/);
  const other = await survey();
  assert.match(await read(other.mine, { 'Accept-Language': 'fr, de;q=0.5' }), /<html lang="de"/);
  assert.match(await read(other.mine, { 'Accept-Language': 'fr' }), /<html lang="en"/);
  assert.match(await read(other.shared, { 'Accept-Language': 'de' }), /<html lang="de"/);
});

test('CSS shows the comment question of the chosen category', async () => {
  const page = await read((await survey()).mine);
  assert.match(page, /<span class="ask detractor"><bdi[^>]*>What went wrong, Ada\?<\/bdi><\/span>/);
  assert.match(page, /<span class="ask passive">What is the main reason for your score\?<\/span>/);
  assert.match(page, /id="score-9" class="is-promoter"/);
  assert.ok(!page.includes('<script'));
});

for (const [score, shown] of [
  [
    '9',
    /Say so, Ada &lt;i&gt;!.*<a href="https:\/\/reviews\.test\/a\?b=1&amp;c=2"[^>]*>reviews\.test</s,
  ],
  ['8', /Your answer has reached/],
  ['2', /We are sorry\..*<a href="https:\/\/help\.test\/"[^>]*>Get help</s],
] as const) {
  test(`after ${score} the page shows the thanks of the category`, async () => {
    const s = await survey();
    const page = await answer(s.mine, { score });
    assert.ok(shown.test(page));
    assert.equal((await s.given())!['language'], 'en');
  });
}

test('the response has the language of its page', async () => {
  const s = await survey();
  assert.ok((await answer(s.mine, { score: '9' }, 'de')).includes('Danke &lt;b&gt;!'));
  assert.equal((await s.given())!['language'], 'de');
});

test('plain properties of a website are stored with the answer', async () => {
  const s = await survey();
  const handed = {
    plan: 'pro "x"',
    seats: 3,
    ok: true,
    list: [1],
    none: null,
    long: 'x'.repeat(501),
  };
  const page = await read(`${s.framed}?properties=${encodeURIComponent(JSON.stringify(handed))}`);
  const [, field = ''] = /name="properties" value="([^"]*)"/.exec(page) ?? [];
  const properties = field.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  await answer(s.framed, { score: '9', properties });
  assert.deepEqual((await s.given())!['properties'], { plan: 'pro "x"', seats: 3, ok: true });
});

test('personal links ignore properties from outside', async () => {
  const s = await survey();
  assert.ok(!(await read(`${s.mine}?properties={"a":1}`)).includes('name="properties"'));
  await answer(s.mine, { score: '9', properties: '{"a":1}' });
  assert.deepEqual((await s.given())!['properties'], {});
});

test('an answer on a changed scale is refused with the new form', async () => {
  const s = await survey();
  await db`update surveys set type = 'csat' where id = ${s.id}`;
  assert.ok((await answer(s.mine, { score: '9' })).includes('Please choose a score first.'));
  assert.equal(await s.given(), undefined);
});
