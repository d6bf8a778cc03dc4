import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, asPerson, complaintOf, headingOf, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const { get, post, postJson } = visitor(db);

/** The one cookie that a page sets, ready to be sent back. */
const cookieOf = (page: Response) => page.headers.get('Set-Cookie')?.split(';')[0] ?? '';

test('a browser answers once, and is shown what it answered', async () => {
  const { shared, answers } = await ask(db);
  const first = await post(shared, { score: '9', comment: 'Fine' });
  const headers = { ...asPerson, Cookie: cookieOf(first) };

  const shown = await (await get(shared, headers)).text();
  assert.deepEqual(headingOf(shown), 'You have already answered');
  assert.match(shown, /9 out of 10.*Fine/);
  const again = await post(shared, { score: '1' }, headers);
  assert.deepEqual(
    [again.status, headingOf(await again.text())],
    [409, 'You have already answered'],
  );
  assert.equal((await answers()).length, 1);
});

test('another browser answers too', async () => {
  const { shared, answers } = await ask(db);
  for (const score of ['9', '3']) assert.equal((await post(shared, { score })).status, 200);
  assert.equal((await answers()).length, 2);
});

test('the browser keeps an id for this survey alone, out of reach of scripts and other sites', async () => {
  const { shared, answers } = await ask(db);
  const cookie = (await post(shared, { score: '9' })).headers.get('Set-Cookie') ?? '';
  const [{ id } = { id: '' }] = await answers();
  assert.equal(
    cookie,
    `answered_${shared.slice(3)}=${id}; Max-Age=31536000; Path=${shared}; HttpOnly; Secure; SameSite=Lax`,
  );
});

test("another survey's answer, or none, in the cookie does not keep anybody from answering", async () => {
  const [mine, theirs] = [await ask(db), await ask(db)];
  await post(theirs.shared, { score: '9' });
  const [{ id } = { id: '' }] = await theirs.answers();
  for (const remembered of [id, '00000000-0000-4000-8000-000000000000', "' or true", '']) {
    const Cookie = `answered_${mine.shared.slice(3)}=${encodeURIComponent(remembered)}`;
    assert.equal((await post(mine.shared, { score: '9' }, { ...asPerson, Cookie })).status, 200);
  }
  assert.equal((await mine.answers()).length, 4);
});

test('no contact responds and no survey completes through it', async () => {
  const { shared, contact, survey, told } = await ask(db);
  await postJson(shared, { score: 2 });
  const [row] = await db`
    select c.status as contact, s.status as survey from contacts c
    join surveys s on s.id = c.survey_id where c.id = ${contact} and s.id = ${survey}`;
  assert.deepEqual({ ...row }, { contact: 'pending', survey: 'active' });
  assert.deepEqual(await told(), ['detractor.detected', 'response.received']);
});

test('a survey that everybody answered still takes answers through it, and completes no second time', async () => {
  const { personal, shared, answers, told } = await ask(db);
  await post(personal, { score: '9' });
  assert.equal((await post(shared, { score: '9' })).status, 200);
  assert.equal((await answers()).length, 2);
  assert.deepEqual(await told(), ['response.received', 'response.received', 'survey.completed']);
});

/** As if so many answers of this address had come; in the minute to come, so that it cannot be over. */
async function arrived(address: string, count: number) {
  await db`
    insert into rate_windows (subject, minute, count)
    values (${`share:${address}`}, date_trunc('minute', now()) + interval '1 minute', ${count})`;
}

test('an address gives 300 answers a minute; the next is kept in the form, to be sent again', async () => {
  const { shared, answers } = await ask(db);
  const crowd = visitor(db, { address: '198.51.100.7' });
  await arrived('198.51.100.7', 299);
  assert.equal((await crowd.post(shared, { score: '9' })).status, 200);

  const page = await crowd.post(shared, { score: '4', comment: 'Long <queue>' });
  const html = await page.text();
  assert.equal(page.status, 429);
  assert.match(complaintOf(html) ?? '', /^Many answers are coming from your network/);
  assert.match(html, /Long &lt;queue&gt;<\/textarea>/);
  assert.match(html, /value="4"[^>]* checked/);
  const wait = Number(page.headers.get('Retry-After'));
  assert.ok(wait > 60 && wait <= 120, `${wait}`);
  assert.equal((await answers()).length, 1);
});

test('a program over the limit is told in JSON when to come back', async () => {
  const { shared, answers } = await ask(db);
  const crowd = visitor(db, { address: '198.51.100.8' });
  await arrived('198.51.100.8', 300);

  const refused = await crowd.postJson(shared, { score: 9 });
  const { code } = (await refused.json()) as { code: string };
  assert.deepEqual([refused.status, code], [429, 'rate_limited']);
  assert.match(refused.headers.get('Retry-After') ?? '', /^\d+$/);
  assert.deepEqual(await answers(), []);
});

test('neither another address, nor opening, nor a personal link is over that limit', async () => {
  const { shared, personal } = await ask(db);
  const crowd = visitor(db, { address: '198.51.100.9' });
  await arrived('198.51.100.9', 300);
  assert.equal((await crowd.get(shared)).status, 200);
  assert.equal((await crowd.post(personal, { score: '9' })).status, 200);
  const neighbour = visitor(db, { address: '198.51.100.10' });
  assert.equal((await neighbour.post(shared, { score: '9' })).status, 200);
});

test('the hidden link leads to a form like the other, and what it posts is held', async () => {
  const { shared, answers, told } = await ask(db);
  const html = await (await get(shared)).text();
  const [, hidden] = /<a href="([^"]*)" tabindex="-1"/.exec(html) ?? [];
  assert.equal(hidden, `${shared}/x`);
  const behind = await (await get(hidden)).text();
  const [, action] = /<form method="post" action="([^"]*)"/.exec(behind) ?? [];

  const page = await post(action!, { score: '9' });

  assert.deepEqual([page.status, headingOf(await page.text())], [200, 'Thank you!']);
  assert.deepEqual(
    (await answers()).map(({ held_reason }) => held_reason),
    ['hidden_field'],
  );
  assert.deepEqual(await told(), []);
});

test('whoever fills in the field that no person sees is held', async () => {
  const { shared, answers } = await ask(db);
  await post(shared, { score: '9', topic: 'https://casino.test' });
  assert.deepEqual(
    (await answers()).map(({ held_reason }) => held_reason),
    ['hidden_field'],
  );
});
