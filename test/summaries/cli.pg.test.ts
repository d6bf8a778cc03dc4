import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFeedback } from '../support/make/feedback.ts';
import { testDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const run = (...words: string[]) =>
  askback(words, { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey });

async function json(...words: string[]) {
  const { code, stdout, stderr } = await run(...words, '--json');
  assert.deepEqual([code, stderr], [0, '']);
  return JSON.parse(stdout);
}

test('summary create stores and publishes a summary of local days', async () => {
  const org = await makeFeedback(db, { time_zone: 'Europe/Berlin' });
  await org.answer(10, null, '2026-04-30T22:30:00Z');
  await org.answer(0, null, '2026-05-31T22:30:00Z');
  const period = ['--from', '2026-05-01', '--to', '2026-05-31'];

  const summary = await json('summary', 'create', '--org', org.id, ...period);

  assert.equal(summary.period_start, '2026-04-30T22:00:00.000Z');
  assert.deepEqual([summary.nps, summary.responses], [100, 1]);
  assert.match(summary.text, /^From 1 May 2026 to 31 May 2026, Acme received 1 response/);
  assert.equal((await org.events()).length, 1);
});

const wrongPeriods: [words: string[], complaint: RegExp][] = [
  [['--from', '2026-06-01', '--to', '2026-05-01'], /--from must not be after --to/],
  [['--from', '2026-05-01T10:00:00Z', '--to', '2026-05-01T10:00:00Z'], /not be after --to/],
  [['--to', '2026-05-01'], /--to needs --from/],
];
for (const [words, complaint] of wrongPeriods) {
  test(`rejects a summary ${words.join(' ')}`, async () => {
    const org = await makeFeedback(db);
    const { code, stderr } = await run('summary', 'create', '--org', org.id, ...words);
    assert.equal(code, 1);
    assert.match(stderr, complaint);
  });
}

test('analyze queues comments while analysis is on', async () => {
  const [on, off] = [await makeFeedback(db), await makeFeedback(db, { ai_enabled: false })];
  await on.answer(3, 'Slow', '2026-04-30');
  await on.answer(3, 'Slow', '2026-05-02');
  await db`delete from waiting_analyses where org_id = ${on.id}`;

  const words = ['analyze', '--org', on.id, '--since', '2026-05-01', '--json'];
  const { stdout, stderr } = await run(...words);
  const refused = await run('analyze', '--org', off.id, '--since', '2026-05-01');

  assert.deepEqual(JSON.parse(stdout), { answers: 1 });
  const waits = 'the service is not running on this database: the comments wait for it\n';
  assert.equal(stderr, waits);
  assert.equal((await on.waiting()).length, 1);
  const none = await run('analyze', '--org', on.id, '--since', '2027-05-01', '--json');
  assert.deepEqual([JSON.parse(none.stdout), none.stderr], [{ answers: 0 }, '']);
  assert.deepEqual(
    [refused.code, refused.stderr],
    [1, 'askback: analysis is off for this organization: turn it on with org update --ai\n'],
  );
});

test('themes can be added, changed, listed and removed', async () => {
  const { id } = await makeFeedback(db);
  const add = (name: string, words: string) =>
    json('theme', 'add', '--org', id, '--name', name, '--words', words);
  await add('Parking', 'car park, garage');
  const changed = await add('parking', 'parking lot');
  const named = ({ name, words }: { name: string; words: string[] }) => [name, ...words];
  assert.deepEqual((await json('theme', 'list', '--org', id)).map(named), [named(changed)]);
  assert.deepEqual(named(changed), ['parking', 'parking lot']);

  await json('theme', 'remove', '--org', id, '--name', 'PARKING');
  const again = await run('theme', 'remove', '--org', id, '--name', 'parking');
  assert.deepEqual([again.code, again.stderr], [1, 'askback: theme not found\n']);
});

const wrongThemes: [name: string, words: string, complaint: RegExp][] = [
  ['x'.repeat(41), 'a', /--name must be at most 40 characters/],
  ['price', ' , ', /--words must name at least one word/],
  ['price', Array(101).fill('fee').join(), /--words must name at most 100 words/],
  ['price', 'y'.repeat(101), /--words must be at most 100 characters/],
  ['price', 'fee,!!', /--words must contain a letter or digit in each word/],
];
for (const [name, words, complaint] of wrongThemes) {
  test(`rejects theme ${name.slice(0, 10)} with "${words.slice(0, 10)}"`, async () => {
    const organization = '00000000-0000-4000-8000-000000000000';
    const given = ['--org', organization, '--name', name, '--words', words];
    const { code, stderr } = await run('theme', 'add', ...given);
    assert.equal(code, 2);
    assert.match(stderr, complaint);
  });
}
