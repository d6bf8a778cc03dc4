import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, headingOf, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const { get, post, postJson } = visitor(db);

type Asked = Awaited<ReturnType<typeof ask>>;

/** Mail scanners open every link of an email like a browser. */
async function openEveryLink({ personal }: Asked) {
  const scores = Array.from({ length: 11 }, (_, score) => score);
  return await Promise.all(scores.map((score) => get(`${personal}?score=${score}`)));
}

const heldFor = async ({ answers }: Asked) =>
  (await answers()).map(({ held_reason }) => held_reason);

test('a scanner that opens every link sees normal pages and counts nothing', async () => {
  const asked = await ask(db);
  for (const [score, page] of (await openEveryLink(asked)).entries()) {
    const html = await page.text();
    assert.equal(page.status, 200);
    assert.match(html, new RegExp(`value="${score}"[^>]* checked`));
  }
  assert.deepEqual([await asked.answers(), await asked.events()], [[], []]);
});

test('a scanner that submits the form gets thanks, and goes on hold', async () => {
  const [scanned, person] = [await ask(db), await ask(db)];
  await openEveryLink(scanned);

  const [scannerAnswer, thanked] = [
    await post(scanned.personal, { score: '10' }),
    await post(person.personal, { score: '10' }),
  ];

  assert.equal(scannerAnswer.status, thanked.status);
  assert.equal(await scannerAnswer.text(), await thanked.text());
  assert.deepEqual([await heldFor(scanned), await heldFor(person)], [['scores_opened'], [null]]);
  assert.deepEqual([await scanned.events(), (await person.events()).length], [[], 2]);
});

test('a scanner that submits nine seconds after its visits goes on hold', async () => {
  const asked = await ask(db);
  await openEveryLink(asked);
  await asked.letTimePass('9 seconds');
  await post(asked.personal, { score: '10' });
  assert.deepEqual(await heldFor(asked), ['scores_opened']);
});

test('a scanner that follows the hidden link goes on hold', async () => {
  const asked = await ask(db);
  const html = await (await get(`${asked.personal}?score=9`)).text();
  const [, hidden] = /<a href="([^"]*)" tabindex="-1"/.exec(html) ?? [];
  assert.equal((await get(hidden!)).status, 200);
  await post(asked.personal, { score: '9' });
  assert.deepEqual(await heldFor(asked), ['hidden_link']);
});

test('a scanner that fills in the honeypot goes on hold', async () => {
  const [behind, field] = [await ask(db), await ask(db)];
  await post(`${behind.personal}/x`, { score: '9' });
  await postJson(field.personal, { score: 9, topic: 'x' });
  assert.deepEqual(
    [await heldFor(behind), await heldFor(field)],
    [['hidden_field'], ['hidden_field']],
  );
});

test("a person's answer replaces the scanner's", async () => {
  const asked = await ask(db);
  await openEveryLink(asked);
  await post(asked.personal, { score: '0' });
  const shown = await (await get(asked.personal)).text();
  assert.equal(headingOf(shown), 'How likely are you to recommend us?');

  await asked.letTimePass('11 seconds');
  const page = await post(asked.personal, { score: '9', comment: 'It is me' });

  assert.equal(headingOf(await page.text()), 'Thank you!');
  assert.deepEqual(
    (await asked.answers()).map(({ score, comment, held_reason }) => [score, comment, held_reason]),
    [[9, 'It is me', null]],
  );
  assert.deepEqual(await asked.events(), ['response.received', 'survey.completed']);
});

test('a machine that posts one score after another goes on hold', async () => {
  const asked = await ask(db);
  await post(asked.personal, { score: '0', topic: 'x' });
  await post(asked.personal, { score: '10' });
  assert.deepEqual(await heldFor(asked), ['scores_posted']);

  await asked.letTimePass('3 seconds');
  await post(asked.personal, { score: '7' });
  assert.deepEqual(await heldFor(asked), [null]);
});
