import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeQuestions } from '../../src/questions/definition.ts';
import { countViews, deleteViewsMentioning } from '../../src/responses/views.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function inbox(over: Record<string, unknown> = {}) {
  const org = await makeOrganization(db);
  const of = { org_id: org, survey_id: await makeSurvey(db, org, over) };
  const browser = await memberBrowser(db, { app, org, role: 'viewer' });
  const list = `${browser.home}/responses`;
  const page = async (query = '') => await (await browser.get(`${list}${query}`)).text();
  const save = (name: string, query: string) =>
    browser.submit(`${list}/views`, { name, query }).then((answer) => answer.text());
  const idOf = async (name: string) =>
    (
      await db<
        { id: string }[]
      >`select id from saved_views where org_id = ${org} and name = ${name}`
    )[0]?.id;
  return { org, of, ...browser, list, page, save, idOf };
}

/** Names, addresses and counts of the views in the sidebar, and which one is current. */
const viewsIn = (html: string) =>
  [...html.matchAll(/<ul class="views">([\s\S]*?)<\/ul>/g)].flatMap(([, items]) =>
    [...items!.matchAll(/<a href="([^"]+)"([^>]*)>\s*<bdi>([^<]*)<\/bdi>([\s\S]*?)<\/a>/g)].map(
      ([, href, rest, name, count]) => ({
        name,
        href: href!.replaceAll('&amp;', '&'),
        isCurrent: rest!.includes('aria-current'),
        count: Number(/>(\d+)\+?\s*<\/span>/.exec(count!)?.[1] ?? 0),
      }),
    ),
  );

test('a view is saved, shown with its filters and deleted', async () => {
  const { list, page, save, idOf, submit, get } = await inbox();
  const query = 'page=2&category=detractor&property.plan=a%26b&property=city%3DOslo&search=slow';
  const saved = await save('Slow in Oslo', query);
  assert.match(saved, /View “Slow in Oslo” saved/);
  const [own, ...others] = viewsIn(saved).filter(({ name }) => name === 'Slow in Oslo');
  assert.equal(others.length, 0);
  assert.equal(own?.isCurrent, true, 'saving opens the view');
  const params = [...new URLSearchParams(own.href.split('?')[1])].sort();
  assert.deepEqual(params, [
    ['category', 'detractor'],
    ['property.city', 'Oslo'],
    ['property.plan', 'a&b'],
    ['search', 'slow'],
  ]);
  assert.doesNotMatch(saved, /Save view/);

  const id = await idOf('Slow in Oslo');
  const asked = await (await get(`${list}/views/${id}/delete`)).text();
  assert.match(asked, /Deletes the view “Slow in Oslo”/);
  assert.match(
    await (await submit(`${list}/views/${id}/delete`)).text(),
    /View “Slow in Oslo” deleted/,
  );
  assert.equal(viewsIn(await page()).length, 4);
});

test('a view needs a filter and a unique name, and keeps typed values', async () => {
  const { page, save, list, post } = await inbox();
  assert.match(await save('All', 'page=3'), /Set a filter to save it as a view/);
  await save('Mine', 'owner=me');
  const again = await post(`${list}/views`, { name: 'MINE', query: 'held=true' });
  const text = await again.text();
  assert.equal(again.status, 422);
  assert.match(text, /You already have a view named MINE/);
  assert.match(text, /name="query" value="held=true"/);
  const unnamed = await post(`${list}/views`, { name: ' ', query: 'held=true' });
  assert.equal(unnamed.status, 422);
  for (let at = 1; at < 20; at++) await save(`View ${at}`, `search=${at}`);
  assert.match(await save('One more', 'search=x'), /at most 20 views/);
  assert.equal(viewsIn(await page()).length, 24);
});

test('only its member can see and change a view', async () => {
  const { org, list, save, idOf } = await inbox();
  await save('Mine', 'category=promoter');
  const id = await idOf('Mine');
  const other = await memberBrowser(db, { app, org, role: 'owner' });
  assert.equal(viewsIn(await (await other.get(list)).text()).length, 4);
  assert.equal((await other.post(`${list}/views/${id}/delete`)).status, 404);
  assert.ok(await idOf('Mine'));
});

test('built-in views select and count their responses', async () => {
  const { org, of, list, page } = await inbox();
  const [member] = await db<{ id: string }[]>`
    select member_id as id from memberships where org_id = ${org}`;
  const detractor = { score: 1, category: 'detractor' };
  await makeResponse(db, of, { ...detractor, comment: 'Open' });
  await makeResponse(db, of, { ...detractor, chosen_state: 'done' });
  await makeResponse(db, of, { owner_id: member!.id });
  await makeResponse(db, of, { ...detractor, held_reason: 'hidden_link' });
  const views = viewsIn(await page());
  assert.deepEqual(
    views.map(({ name, count }) => [name, count]),
    [
      ['Open detractors', 1],
      ['Assigned to me', 1],
      ['On hold', 1],
      ['With comment', 0],
    ],
  );
  for (const { href } of views) {
    const html = await page(href.slice(list.length));
    assert.match(html, /1 response\b/, href);
    assert.ok(viewsIn(html).find((view) => view.href === href)?.isCurrent, href);
  }
  assert.deepEqual(
    { ...(await countViews(db, { orgId: org, memberId: member!.id })) },
    { detractors: 1, mine: 1, held: 1 },
  );
});

test('the last days end today in the time zone of the organization', async () => {
  const { org, of, page } = await inbox();
  await db`update organizations set time_zone = 'Pacific/Kiritimati' where id = ${org}`;
  const [day] = await db<{ start: Date }[]>`
    select date_trunc('day', now() at time zone 'Pacific/Kiritimati') at time zone 'Pacific/Kiritimati' - interval '6 days' as start`;
  await makeResponse(db, of, { created_at: day!.start, comment: 'first' });
  await makeResponse(db, of, { created_at: new Date(day!.start.getTime() - 1), comment: 'before' });
  const html = await page('?days=7');
  assert.match(html, /1 response\b/);
  assert.match(html, /Remove the filter Time: Last 7 days/);
  assert.match(await page('?days=x'), /2 responses/);
});

test('the menu offers properties, themes and answers of recent responses', async () => {
  const questions = mergeQuestions(
    [],
    [{ kind: 'choice', text: 'Why?', options: [{ label: 'Price' }, { label: 'Taste' }] }],
    new Set(),
  );
  const { id, options } = questions[0]!;
  const { org, of, page } = await inbox({ questions: db.json(questions as never) });
  const person = await makeContact(db, of, { properties: { plan: 'pro', city: '' } });
  const response = await makeResponse(db, of, { contact_id: person, comment: 'Dear' });
  await makeResponse(db, of);
  await db`
    insert into response_answers (org_id, response_id, answers)
    values (${org}, ${response}, ${db.json({ [id]: { value: options![0]!.id } })})`;
  await db`
    insert into analyses (org_id, response_id, sentiment, themes, provider)
    values (${org}, ${response}, 'negative', '{pricing}', 'test')`;
  const html = await page();
  assert.equal(html.match(/id="answer"/g)?.length, 1, 'the pane has its id alone');
  assert.match(html, /<optgroup label="plan">\s*<option value="plan=pro">/);
  assert.doesNotMatch(html, /<optgroup label="city">/);
  assert.match(html, /<option[^>]*>pricing<\/option>/);
  assert.ok(html.includes(`<option value="${id}=${options![0]!.id}">Price`));
  for (const [query, words] of [
    [`?answer=${id}%3D${options![0]!.id}`, 'Why?: Price'],
    ['?property=plan%3Dpro', 'plan: pro'],
    ['?theme=pricing', 'Theme: pricing'],
  ] as const) {
    const found = await page(query);
    assert.match(found, /1 response\b/, query);
    assert.ok(found.includes(`aria-label="Remove the filter ${words}"`), query);
  }
});

test('an erasure deletes views that search for the address', async () => {
  const { org, save, idOf } = await inbox();
  await save('Ada', 'search=ada%40people.test');
  await save('Ada too', 'search=xada%40people.test');
  await deleteViewsMentioning(db, org, { key: 'ada@people.test', before: null });
  assert.deepEqual([await idOf('Ada'), typeof (await idOf('Ada too'))], [undefined, 'string']);
});

test('the first response is open, and a narrow screen shows the list', async () => {
  const { of, list, page } = await inbox();
  const older = await makeResponse(db, of, {
    comment: 'Older',
    created_at: '2026-03-01T12:00:00Z',
  });
  const newer = await makeResponse(db, of, {
    comment: 'Newer',
    created_at: '2026-03-02T12:00:00Z',
  });
  const first = await page();
  assert.ok(first.includes(`data-address="${list}/${newer}"`));
  assert.match(first, /class="inbox card flush"/);
  const second = await page(`/${older}`);
  assert.ok(second.includes(`data-address="${list}/${older}"`));
  assert.match(second, /class="inbox card flush open"/);
  assert.match(second, new RegExp(`responses/${older}" aria-current="true"`));
  assert.match(await page('?category=passive'), /Select a response to read it/);
});
