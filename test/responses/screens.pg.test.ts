import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function inbox(role: 'viewer' | 'editor' = 'editor') {
  const org = await makeOrganization(db);
  const of = { org_id: org, survey_id: await makeSurvey(db, org) };
  const browser = await memberBrowser(db, { app, org, role });
  const list = `${browser.home}/responses`;
  const page = async (query = '') => {
    const answer = await browser.get(`${list}${query}`);
    assert.equal(answer.status, 200, query);
    return await answer.text();
  };
  const respond = (over: Record<string, unknown> = {}) => makeResponse(db, of, over);
  const tag = async (name: string) => {
    const [row] = await db<{ id: string }[]>`
      insert into tags (org_id, name, color) values (${org}, ${name}, '#ffffff') returning id`;
    return row!.id;
  };
  const one = async (id: string) => {
    const [row] = await db<{ state: string | null; owner_id: string | null; tags: string[] }[]>`
      select state, owner_id, array(select t.name from response_tags rt join tags t on t.id = rt.tag_id
                                    where rt.response_id = r.id order by 1) as tags
      from responses r where id = ${id}`;
    return row;
  };
  return { org, of, ...browser, list, page, respond, tag, one };
}

test('the inbox shows filtered responses and their number', async () => {
  const { list, page, respond } = await inbox();
  await respond({ comment: 'Lovely <b>shop</b>' });
  await respond({ comment: 'Too slow', category: 'detractor', score: 2 });
  const all = await page();
  assert.match(all, /2 responses/);
  assert.match(all, /Select all 2/);
  assert.match(all, /Lovely &lt;b&gt;shop/);
  const some = await page('?category=detractor&search=slow&survey_id=&date_from=&held=');
  assert.match(some, /1 response\b/);
  assert.doesNotMatch(some, /Lovely/);
  assert.match(some, /Remove the filter Category: Detractor/);
  assert.match(some, /Clear\s*<\/a>/);
  const none = await page('?category=passive');
  assert.match(none, /No matching responses/);
  assert.ok(none.includes(`href="${list}">Show all responses</a>`));
});

test('a response links to its neighbours in the list', async () => {
  const { list, page, respond } = await inbox();
  const ids: string[] = [];
  for (const day of [1, 2, 3])
    ids.push(await respond({ category: 'passive', created_at: `2026-03-0${day}T12:00:00Z` }));
  await respond({ created_at: '2026-03-02T18:00:00Z' });
  const [oldest, middle, newest] = ids as [string, string, string];
  const lead = async (id: string, query: string) => {
    const html = await page(`/${id}${query}`);
    return ['prev', 'next'].map(
      (rel) => new RegExp(`href="([^"]+)" rel="${rel}"`).exec(html)?.[1] ?? null,
    );
  };
  const query = '?category=passive';
  const at = (id: string) => `${list}/${id}${query}`;
  assert.deepEqual(await lead(newest, query), [null, at(middle)]);
  assert.deepEqual(await lead(middle, query), [at(newest), at(oldest)]);
  assert.deepEqual(await lead(oldest, query), [at(middle), null]);
  assert.deepEqual(await lead(newest, '?date_from=2026-03-03'), [null, null]);
});

test('an end before its start is reported on the field', async () => {
  const { get, list, page, respond } = await inbox();
  await respond({ created_at: new Date('2026-03-05T12:00:00Z') });
  await respond({ created_at: new Date('2026-02-05T12:00:00Z') });
  for (const to of ['2026-02-28', '2026-02-28T10:00:00Z', '2026-02-28T23:59:59.999Z']) {
    const answer = await get(`${list}?date_from=2026-03-01&date_to=${to}`);
    const shown = await answer.text();
    assert.equal(answer.status, 422, to);
    assert.match(shown, /The end is before the start/);
    assert.match(shown, /1 response\b/);
    assert.doesNotMatch(shown, /export\?[^"]*date_to/);
  }
  assert.match(await page('?date_from=2026-03-05&date_to=2026-03-05'), /1 response\b/);
});

test('an invalid day is reported on its field, and other filters apply', async () => {
  const { get, list, page, respond } = await inbox();
  await respond({ comment: 'Lovely shop' });
  await respond({ comment: 'Too slow', category: 'detractor', score: 2 });
  const answer = await get(`${list}?date_from=last+week&date_to=2026-02-30&category=detractor`);
  const shown = await answer.text();
  assert.equal(answer.status, 422);
  assert.equal(shown.match(/Enter a date, such as 2026-04-01/g)?.length, 2);
  assert.match(shown, /name="date_from"[^>]*value="last week"/);
  assert.match(shown, /type="text"[^>]*name="date_to"|name="date_to"[^>]*type="text"/);
  assert.match(shown, /<details class="menu" open/);
  assert.match(shown, /1 response\b/);
  assert.doesNotMatch(shown, /export\?[^"]*date_from/);
  assert.match(await page('?date_from=2024-01-01&date_to=2024-01-01T10:00:00Z'), /0 responses/);
  const twice = await get(`${list}?date_from=last+week&date_from=2024-01-01`);
  assert.equal(twice.status, 422);
  assert.match(await twice.text(), /name="date_from"[^>]*value="last week"/);
});

test('a property typed as name=value is shown, with a link to remove it', async () => {
  const { page, respond, of, list, get } = await inbox();
  const person = await makeContact(db, of, { properties: { plan: 'a&b', city: 'Oslo' } });
  await respond({ contact_id: person, comment: 'From Oslo' });
  await respond({ comment: 'From nowhere' });
  const some = await page('?property=plan+%3D+a%26b&property.city=Oslo&page=1&category=');
  assert.match(some, /1 response\b/);
  assert.doesNotMatch(some, /From nowhere/);
  assert.match(some, /<bdi>plan<\/bdi>: <bdi>a&amp;b<\/bdi>/);
  const links = [...some.matchAll(/href="([^"]+)" aria-label="Remove the filter/g)];
  assert.deepEqual(
    links.map(([, to]) => to),
    [`${list}?property.plan=a%26b`, `${list}?property.city=Oslo`],
  );
  assert.match(
    some,
    /href="[^"]+export\?property.city=Oslo&amp;property.plan=a%26b&amp;format=csv"/,
  );
  for (const half of ['plan', 'plan=', '=pro', '%20=%20']) {
    const mistyped = await get(`${list}?property=${half}`);
    assert.equal(mistyped.status, 422, half);
    const text = await mistyped.text();
    assert.match(text, /2 responses/, half);
    assert.match(text, /Enter a property and a value/, half);
  }
});

test('a tag can be added to many responses and removed again', async () => {
  const { list, submit, respond, tag, one } = await inbox();
  const ids = [await respond(), await respond()];
  const id = await tag('billing');
  const done = await submit(`${list}/chosen`, {
    id: ids,
    tag: id,
    do: 'tag',
    query: 'category=promoter',
  });
  assert.match(await done.text(), /Tag added to 2 responses/);
  assert.deepEqual((await one(ids[0]!))?.tags, ['billing']);
  await submit(`${list}/chosen`, { id: ids[0]!, tag: id, do: 'untag', query: '' });
  assert.deepEqual((await one(ids[0]!))?.tags, []);
  assert.deepEqual((await one(ids[1]!))?.tags, ['billing']);
  const none = await submit(`${list}/chosen`, { tag: id, do: 'tag', query: '' });
  assert.match(await none.text(), /Select at least one response/);
});

test('bulk actions change state and owner within the organization', async () => {
  const { org, list, submit, respond, one } = await inbox();
  const [theirs, detractor] = [await inbox(), { category: 'detractor', score: 1 }];
  const ids = [await respond(detractor), await respond(detractor), await respond()];
  const strange = await theirs.respond(detractor);
  const query = 'category=detractor&state=open';
  const id = [ids[0]!, ids[2]!, strange];

  const done = await submit(`${list}/chosen`, { id, do: 'done', query });
  assert.match(await done.text(), /2 responses marked as done/);
  const states = async () =>
    Promise.all([...ids, strange].map(async (id) => (await one(id))?.state));
  assert.deepEqual(await states(), ['done', 'open', 'done', 'open']);

  await submit(`${list}/chosen`, { id: ids[0]!, do: 'open', query });
  await submit(`${list}/chosen`, { id, do: 'take', query });
  assert.deepEqual(await states(), ['open', 'open', 'done', 'open']);
  const owned = await db`select id from responses where owner_id is not null order by id`;
  assert.deepEqual(
    owned.map(({ id }) => id),
    [ids[0]!, ids[2]!].sort(),
  );
  const acts = await db`
    select act, details->>'act' as did, (details->>'responses')::int as many
    from audit_events where org_id = ${org} order by at, id`;
  assert.deepEqual(
    acts.map(({ act, did, many }) => [act, did, many]),
    [
      ['responses.changed', 'done', 2],
      ['responses.changed', 'open', 1],
      ['responses.changed', 'take', 2],
    ],
  );
  const none = await submit(`${list}/chosen`, { do: 'done', query });
  assert.match(await none.text(), /Select at least one response/);
});

test('a response can be assigned, noted, tagged and done on its page', async () => {
  const { org, of, list, get, submit, respond, tag, one } = await inbox();
  const contact_id = await makeContact(db, of, { email: 'ada@people.test', name: 'Ada' });
  const other = await makeSurvey(db, org, { name: 'Another survey' });
  const again = await makeContact(
    db,
    { org_id: org, survey_id: other },
    { email: 'ADA@people.test' },
  );
  await makeResponse(
    db,
    { org_id: org, survey_id: other },
    { contact_id: again, comment: 'the other' },
  );
  const id = await respond({ contact_id, category: 'detractor', score: 2, comment: 'slow' });
  const text = await (await get(`${list}/${id}`)).text();
  for (const shown of [/Ada/, /Send reply/, /Another survey/, /Assign to me/])
    assert.match(text, shown);

  const [, editor] = /name="owner" value="([^"]+)"/.exec(text) ?? [];
  await submit(`${list}/${id}`, { owner: editor! });
  await submit(`${list}/${id}`, { state: 'done' });
  const label = await tag('speed');
  await submit(`${list}/${id}/tags`, { tag: label });
  await submit(`${list}/${id}/notes`, { text: 'Called her.' });
  const done = await one(id);
  assert.deepEqual([done?.state, done?.owner_id !== null, done?.tags], ['done', true, ['speed']]);
  const after = await (await get(`${list}/${id}`)).text();
  for (const shown of [/Called her\./, /Reopen/, /speed/]) assert.match(after, shown);
  await submit(`${list}/${id}`, { owner: '', state: '' });
  assert.deepEqual(await one(id), { state: null, owner_id: null, tags: ['speed'] });
  await submit(`${list}/${id}/tags`, { untag: label });
  assert.deepEqual((await one(id))?.tags, []);
});

test("an outdated page does not undo another member's change", async () => {
  const { org, list, submit, get, respond, one } = await inbox();
  const other = await memberBrowser(db, { app, org, role: 'editor' });
  const id = await respond({ category: 'detractor', score: 2 });
  const text = await (await get(`${list}/${id}`)).text();
  const [, me = ''] = /name="owner" value="([^"]+)"/.exec(text) ?? [];
  const theirs = await (await other.get(`${list}/${id}`)).text();
  const [, them = ''] = /name="owner" value="([^"]+)"/.exec(theirs) ?? [];
  await other.submit(`${list}/${id}`, { owner: them, shown_owner: '' });
  const taken = await one(id);
  assert.ok(taken?.owner_id);
  const now = await (await get(`${list}/${id}`)).text();
  const hidden = [...now.matchAll(/name="shown_(\w+)" value="([^"]*)"/g)];
  assert.deepEqual(
    new Set(hidden.map(([, field, value]) => `${field} ${value}`)),
    new Set([`owner ${them}`, 'state open']),
    'a page says what it has shown',
  );

  const shown = { shown_owner: '', shown_state: '' };
  await submit(`${list}/${id}`, { owner: '', state: 'done', ...shown });
  assert.deepEqual(await one(id), { ...taken, state: 'done' });
  const refused = await submit(`${list}/${id}`, { owner: me, shown_owner: '' });
  assert.match(await refused.text(), /another member changed the owner/);
  assert.deepEqual(await one(id), { ...taken, state: 'done' });
  await submit(`${list}/${id}`, { owner: me, shown_owner: them });
  assert.notEqual((await one(id))?.owner_id, taken.owner_id);
});

test('the list begins with the opened response when it lacks it', async () => {
  const { page, respond } = await inbox();
  const held = await respond({ held_reason: 'scores_opened' });
  await respond({});
  const row = new RegExp(`/${held}[^"]*" aria-current="true"`);
  assert.match(await page(`/${held}`), row);
  assert.doesNotMatch(await page(`/${held}?category=promoter`), row, 'a filtered list');
});

test('a response can be released, and deleted after a confirmation', async () => {
  const { list, page, get, submit, respond } = await inbox();
  const id = await respond({ held_reason: 'scores_opened' });
  assert.match(await (await get(`${list}/${id}`)).text(), /several score links were opened/);
  assert.match(await page('?held=true'), /1 response\b/);
  assert.match(await (await submit(`${list}/${id}/release`)).text(), /Response released/);
  assert.match(await page(), /1 response\b/);
  assert.match(await (await get(`${list}/${id}/delete`)).text(), /Scores and trends will change/);
  await submit(`${list}/${id}/delete`);
  assert.match(await page(), /No responses yet/);
});

test('editors export the filtered responses', async () => {
  const { list, get, respond } = await inbox();
  await respond({ comment: 'in' });
  await respond({ comment: 'out', category: 'detractor' });
  const answer = await get(`${list}/export?category=promoter&search=&format=csv`);
  const text = await answer.text();
  assert.equal(answer.headers.get('Content-Disposition'), 'attachment; filename="responses.csv"');
  assert.match(text, /,in,/);
  assert.doesNotMatch(text, /,out,/);
});

test('viewers cannot change responses', async () => {
  const { list, page, get, post, respond } = await inbox('viewer');
  const id = await respond({ held_reason: null });
  assert.doesNotMatch(await page(), /Tag selected|Export/);
  assert.doesNotMatch(await (await get(`${list}/${id}`)).text(), /Add note|Delete|Assign to me/);
  for (const path of [
    'chosen',
    id,
    `${id}/tags`,
    `${id}/notes`,
    `${id}/replies`,
    `${id}/release`,
    `${id}/delete`,
  ]) {
    assert.equal((await post(`${list}/${path}`)).status, 403, path);
  }
  for (const path of ['export', `${id}/delete`])
    assert.equal((await get(`${list}/${path}`)).status, 403, path);
});

test("another organization's response returns 404", async () => {
  const [mine, theirs] = [await inbox(), await inbox()];
  const id = await theirs.respond();
  for (const path of [id, 'no-id']) {
    const answer = await mine.get(`${mine.list}/${path}`);
    assert.equal(answer.status, 404);
    // Readers see that a parameter is wrong, without the API's details for programs.
    assert.doesNotMatch(await answer.text(), /Details:/);
  }
  const mistaken = await mine.get(`${mine.list}?category=great`);
  assert.equal(mistaken.status, 400);
  assert.match(await mistaken.text(), /Details: category/);
  for (const act of ['', '/tags', '/notes', '/replies', '/release', '/delete']) {
    assert.equal(
      (
        await mine.post(`${mine.list}/${id}${act}`, {
          ...{ text: 'x', state: 'done', reply: 'x', reply_id: id },
        })
      ).status,
      404,
      act,
    );
  }
});

test('a response keeps the filters of its list', async () => {
  const { list, get, page, respond, submit } = await inbox();
  const at = (day: number) => new Date(Date.UTC(2026, 0, day));
  const bad = (day: number, over: Record<string, unknown> = {}) =>
    respond({ category: 'detractor', score: 1, created_at: at(day), ...over });
  const [oldest, middle] = [await bad(1), await bad(2)];
  await respond({ created_at: at(3) });
  // Responses with equal times are ordered by id.
  const newest = [await bad(4), await bad(4)].sort();
  const query = '?category=detractor&state=open';
  assert.match(
    await page(query),
    new RegExp(`responses/${middle}\\?category=detractor&amp;state=open"`),
  );
  const read = async (id: string, filters = query) => {
    const text = await (await get(`${list}/${id}${filters}`)).text();
    const to = (rel: string) => new RegExp(`responses/([^"?]+)([^"]*)" rel="${rel}"`).exec(text);
    return { text, newer: to('prev')?.[1], older: to('next')?.[1], kept: to('next')?.[2] };
  };
  const seen = await read(middle);
  assert.deepEqual([seen.newer, seen.older], [newest[0], oldest]);
  assert.equal(seen.kept, query.replace('&', '&amp;'));
  assert.match(seen.text, /responses\?category=detractor&amp;state=open"[^>]*>.*Back to the list/);
  const of = async (id: string, filters?: string) => {
    const { newer, older } = await read(id, filters);
    return [newer, older];
  };
  assert.deepEqual(await of(newest[0]!), [newest[1], middle]);
  assert.deepEqual(await of(newest[1]!), [undefined, newest[0]]);
  assert.deepEqual(await of(oldest), [middle, undefined]);
  assert.deepEqual(await of(oldest, '?search=nowhere'), [undefined, undefined]);

  const done = await submit(`${list}/${middle}${query}`, { state: 'done' });
  assert.match(await done.text(), /Reopen/);
  assert.deepEqual(await of(middle), [newest[0], oldest]);
  assert.deepEqual(await of(oldest), [newest[0], undefined]);
  const gone = await submit(`${list}/${oldest}/delete${query}`, {});
  assert.match(await gone.text(), /2 responses/);
});
