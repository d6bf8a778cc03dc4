import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeResponse, makeSurvey } from '../support/make/rows.ts';
import { ask, asPerson, complaintOf, headingOf, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const { get, post, postJson } = visitor(db);

/** The cookie that a page sets, ready to be sent back. */
const cookieOf = (page: Response) => page.headers.get('Set-Cookie')?.split(';')[0] ?? '';

test('a browser answers once, and then sees its answer', async () => {
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

test('the cookie is HttpOnly, SameSite and limited to this survey', async () => {
  const { shared, answers } = await ask(db);
  const cookie = (await post(shared, { score: '9' })).headers.get('Set-Cookie') ?? '';
  const [{ id } = { id: '' }] = await answers();
  assert.equal(
    cookie,
    `answered_${shared.slice(3)}=${id}; Max-Age=31536000; Path=${shared}; HttpOnly; Secure; SameSite=Lax`,
  );
});

test('a foreign or unknown id in the cookie does not prevent answering', async () => {
  const [mine, theirs] = [await ask(db), await ask(db)];
  await post(theirs.shared, { score: '9' });
  const [{ id } = { id: '' }] = await theirs.answers();
  const survey_id = await makeSurvey(db, mine.organization);
  const own = await makeResponse(db, { org_id: mine.organization, survey_id }, { source: 'share' });
  for (const remembered of [id, own, '00000000-0000-4000-8000-000000000000', "' or true", '']) {
    const Cookie = `answered_${mine.shared.slice(3)}=${encodeURIComponent(remembered)}`;
    assert.equal((await post(mine.shared, { score: '9' }, { ...asPerson, Cookie })).status, 200);
  }
  assert.equal((await mine.answers()).length, 5);
});

test('a shared answer marks no contact and completes no survey', async () => {
  const { shared, contact, survey, events } = await ask(db);
  await postJson(shared, { score: 2 });
  const [row] = await db`
    select c.status as contact, s.status as survey from contacts c
    join surveys s on s.id = c.survey_id where c.id = ${contact} and s.id = ${survey}`;
  assert.deepEqual({ ...row }, { contact: 'pending', survey: 'active' });
  assert.deepEqual(await events(), ['detractor.detected', 'response.received']);
});

test('a completed survey takes shared answers, and completes only once', async () => {
  const { personal, shared, answers, events } = await ask(db);
  await post(personal, { score: '9' });
  assert.equal((await post(shared, { score: '9' })).status, 200);
  assert.equal((await answers()).length, 2);
  assert.deepEqual(await events(), ['response.received', 'response.received', 'survey.completed']);
});

/**
 * Simulates earlier answers from this address, in the next minute so that the window does not end during the test.
 * Returns the end of that minute.
 */
async function arrived(survey: string, address: string, count: number) {
  const [window] = await db<{ ends: Date }[]>`
    insert into rate_windows (subject, minute, count)
    values (${`share:${survey}:${address}`}, date_trunc('minute', now()) + interval '1 minute', ${count})
    returning minute + interval '1 minute' as ends`;
  return window!.ends.getTime();
}

test('after 300 answers a minute the form keeps the next one to resend', async () => {
  const { shared, answers, survey } = await ask(db);
  const crowd = visitor(db, { address: '198.51.100.7' });
  const ends = await arrived(survey, '198.51.100.7', 299);
  assert.equal((await crowd.post(shared, { score: '9' })).status, 200);

  const before = Date.now();
  const page = await crowd.post(shared, { score: '4', comment: 'Long <queue>' });
  const after = Date.now();
  const html = await page.text();
  assert.equal(page.status, 429);
  assert.match(complaintOf(html) ?? '', /^Many answers are coming from your network/);
  assert.match(html, /Long &lt;queue&gt;<\/textarea>/);
  assert.match(html, /value="4"[^>]* checked/);
  const wait = Number(page.headers.get('Retry-After'));
  assert.ok(wait >= (ends - after) / 1000 && wait < (ends - before) / 1000 + 1, `${wait}`);
  assert.equal((await answers()).length, 1);
});

test('a program over the limit gets JSON with Retry-After', async () => {
  const { shared, answers, survey } = await ask(db);
  const crowd = visitor(db, { address: '198.51.100.8' });
  await arrived(survey, '198.51.100.8', 300);

  const refused = await crowd.postJson(shared, { score: 9 });
  const { code } = (await refused.json()) as { code: string };
  assert.deepEqual([refused.status, code], [429, 'rate_limited']);
  assert.match(refused.headers.get('Retry-After') ?? '', /^\d+$/);
  assert.deepEqual(await answers(), []);
});

test('the limit applies per address and survey', async () => {
  const { shared, personal, survey } = await ask(db);
  const other = await ask(db);
  const crowd = visitor(db, { address: '198.51.100.9' });
  await arrived(survey, '198.51.100.9', 300);
  assert.equal((await crowd.post(shared, { score: '9' })).status, 429);
  assert.equal((await crowd.get(shared)).status, 200);
  assert.equal((await crowd.post(personal, { score: '9' })).status, 200);
  assert.equal((await crowd.post(other.shared, { score: '9' })).status, 200);
  const neighbour = visitor(db, { address: '198.51.100.10' });
  assert.equal((await neighbour.post(shared, { score: '9' })).status, 200);
});

test('only recorded answers count towards the limit', async () => {
  const { shared, survey } = await ask(db);
  const crowd = visitor(db, { address: '198.51.100.11' });
  await arrived(survey, '198.51.100.11', 299);
  for (const bad of [{}, { score: '11' }, { score: '9', comment: 'x'.repeat(5001) }]) {
    assert.equal((await crowd.post(shared, bad)).status, 400);
  }
  assert.equal((await crowd.post(shared, { score: '9' })).status, 200);
  assert.equal((await crowd.post(shared, { score: '9' })).status, 429);
});

test('answers from the hidden link go on hold', async () => {
  const { shared, answers, events } = await ask(db);
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
  assert.deepEqual(await events(), []);
});
