import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { proxyTo } from '../support/fakes/database-proxy.ts';
import { ask, asPerson, asProgram, complaintOf, headingOf, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db, url } = await testDatabase();
const { get, post, postJson, request } = visitor(db);

/** Text of a page that must have the layout of all pages. */
async function pageOf(answer: Response) {
  assert.match(answer.headers.get('Content-Type') ?? '', /^text\/html/);
  assert.match(answer.headers.get('Content-Security-Policy') ?? '', /^default-src 'none'/);
  assert.equal(answer.headers.get('Cache-Control'), 'no-store');
  const html = await answer.text();
  return { html, heading: headingOf(html) };
}

const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code;

test('the 404 page names no survey and links to the app', async () => {
  for (const path of ['/nothing', '/surveys', '/settings/keys']) {
    const page = await get(path, asPerson);
    assert.equal(page.status, 404);
    const html = await page.text();
    assert.match(html, /<h1[^>]*>Page not found/);
    assert.match(html, /<a class="button" href="\/"/);
    assert.doesNotMatch(html, /survey here|your email/);
  }
});

test('an unknown link is a localized page, or JSON for programs', async () => {
  for (const path of ['/s/none', '/f/none', '/s/none/x', '/f/none/x', '/s']) {
    const page = await get(path, { ...asPerson, 'Accept-Language': 'de-AT, en' });
    assert.equal(page.status, 404);
    assert.equal((await pageOf(page)).heading, 'Hier ist keine Umfrage');
    const refused = await get(path, asProgram);
    assert.deepEqual([refused.status, await codeOf(refused)], [404, 'not_found']);
  }
});

test('the API returns JSON even to a browser', async () => {
  const refused = await get('/api/v1/surveys', asPerson);
  assert.deepEqual([refused.status, await codeOf(refused)], [401, 'unauthorized']);
});

test('a link with a NUL character is a 404 page', async () => {
  assert.equal((await pageOf(await get('/s/a%00b'))).heading, 'There is no survey here');
  const page = await get('/s/none?score=%00');
  assert.equal(page.status, 400);
  assert.equal((await pageOf(page)).heading, 'That did not work');
});

test('a form of more than 64 KiB returns 413', async () => {
  const { personal, answers } = await ask(db);
  const fields = { score: '9', comment: 'x'.repeat(64 * 1024) };
  const page = await post(personal, fields);
  assert.deepEqual([page.status, page.headers.get('Connection')], [413, 'close']);
  assert.equal((await pageOf(page)).heading, 'That was too much');
  assert.equal(await codeOf(await post(personal, fields, asProgram)), 'body_too_large');
  assert.deepEqual(await answers(), []);
});

test('a form with invalid UTF-8 returns 400', async () => {
  const { personal } = await ask(db);
  const body = Buffer.from([0x73, 0x3d, 0xff]);
  const page = await request(personal, { method: 'POST', headers: asPerson, body });
  assert.equal(page.status, 400);
  assert.equal((await pageOf(page)).heading, 'That did not work');
});

test('an internal error is a page without its cause', async () => {
  const { personal, answers } = await ask(db);
  const broken = visitor(db, { excerpt: () => Promise.reject(new Error('secret')) });
  const page = await broken.post(personal, { score: '1', comment: 'Hm' });
  assert.equal(page.status, 500);
  const { html, heading } = await pageOf(page);
  assert.equal(heading, 'Something went wrong here');
  assert.doesNotMatch(html, /secret/);
  assert.equal(
    await codeOf(await broken.postJson(personal, { score: 1, comment: 'Hm' })),
    'internal',
  );
  assert.deepEqual(await answers(), []);
});

/** A visitor of a service whose connection to the database can be cut. */
async function cuttable(excerpt?: (cut: () => Promise<void>) => Promise<string>) {
  const proxy = await proxyTo(url);
  const through = connect(proxy.url, { connections: 1 });
  const tools = excerpt ? { excerpt: () => excerpt(proxy.cut) } : {};
  return { ...proxy, ...visitor(through, tools), end: () => through.end({ timeout: 1 }) };
}

test('an answer during an outage can be sent again', async (t) => {
  const { personal, answers } = await ask(db);
  const service = await cuttable();
  t.after(service.end);
  await service.cut();

  const page = await service.post(personal, { score: '8', comment: '"Nearly" <lost>' });
  assert.deepEqual([page.status, page.headers.get('Retry-After')], [503, '1']);
  const { html, heading } = await pageOf(page);
  assert.equal(heading, 'We will be right back');
  assert.match(html, /could not be saved just now. Please send it again/);

  await service.mend();
  const [, action] = /<form method="post" action="([^"]*)"/.exec(html) ?? [];
  const fields = [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  const written = Object.fromEntries(fields.map(([, name, value]) => [name, decoded(value!)]));
  assert.equal((await service.post(action!, written)).status, 200);
  assert.deepEqual(
    (await answers()).map(({ score, comment, held_reason }) => [score, comment, held_reason]),
    [[8, '"Nearly" <lost>', null]],
  );
});

const decoded = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"');

test('the form keeps its input when the database fails during a save', async (t) => {
  const { personal, answers } = await ask(db);
  const service = await cuttable(async (cut) => {
    await cut();
    return '';
  });
  t.after(service.end);

  const page = await service.post(personal, { score: '1', comment: 'Slow' });

  const { html } = await pageOf(page);
  assert.equal(page.status, 503);
  assert.match(complaintOf(html) ?? '', /could not be saved just now/);
  assert.match(html, /value="1"[^>]* checked/);
  assert.match(html, /Slow<\/textarea>/);
  assert.deepEqual(await answers(), []);
});

test('the form keeps its input when the disk is full', async () => {
  const { db: own } = await testDatabase();
  const { personal, answers } = await ask(own);
  const person = visitor(own);
  await own.unsafe(`
    create function refuse() returns trigger language plpgsql as
    $$begin raise exception using errcode = 'disk_full'; end$$;
    create trigger full_disk before insert on responses for each row execute function refuse()`);

  const page = await person.post(personal, { score: '1', comment: 'Slow' });

  const { html } = await pageOf(page);
  assert.equal(page.status, 503);
  assert.match(complaintOf(html) ?? '', /could not be saved just now/);
  assert.match(html, /value="1"[^>]* checked/);
  assert.match(html, /Slow<\/textarea>/);
  assert.deepEqual(await answers(), []);
  await own`drop trigger full_disk on responses`;
  assert.equal((await person.post(personal, { score: '1' })).status, 200);
});

test('programs get JSON while the database is down', async (t) => {
  const { personal, shared } = await ask(db);
  const service = await cuttable();
  t.after(service.end);
  await service.cut();
  for (const link of [personal, shared]) {
    const refused = await service.postJson(link, { score: 9 });
    assert.deepEqual([refused.status, await codeOf(refused)], [503, 'database_unavailable']);
    const page = await service.get(link);
    assert.deepEqual([page.status, page.headers.get('Retry-After')], [503, '1']);
    assert.equal((await pageOf(page)).heading, 'We will be right back');
  }
});

test('the honeypot field survives an outage', async (t) => {
  const { personal } = await ask(db);
  const service = await cuttable();
  t.after(service.end);
  await service.cut();
  const { html } = await pageOf(await service.post(personal, { score: '8', topic: 'spam' }));
  assert.match(html, /<input type="hidden" name="topic" value="[^"]+"/);
});

test('invalid JSON returns 400', async () => {
  const { personal } = await ask(db);
  const headers = { 'Content-Type': 'application/json' };
  const refused = await request(personal, { method: 'POST', headers, body: '{' });
  assert.equal(refused.status, 400);
  assert.equal(await codeOf(await postJson(personal, [9])), 'invalid_json');
});
