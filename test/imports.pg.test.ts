import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeResponse } from './support/make/rows.ts';
import { ask } from './support/probe/ask.ts';
import { testDatabase } from './support/probe/database.ts';
import { askback, secretKey } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const run = (...words: string[]) => askback(words, environment);
const unknownId = '00000000-0000-4000-8000-000000000000';

const folder = mkdtempSync(join(tmpdir(), 'imports-'));
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const contactsOf = async (survey: string) => [
  ...(await db`select email, name, properties from contacts where survey_id = ${survey}
    and email not like '%@people.test' order by email`),
];

test('contact import reads a file of a spreadsheet, and prints how many contacts it added', async () => {
  const { survey } = await ask(db);
  const path = file(
    'people.csv',
    '\ufeffEmail,Name,Plan\r\nann@acme.test,"Ann, B.",gold\r\nbob@acme.test,,\r\n',
  );
  const { code, stdout, stderr } = await run('contact', 'import', '--survey', survey, path);
  assert.deepEqual([code, stdout, stderr], [0, 'imported 2 contacts\n', '']);
  assert.deepEqual(await contactsOf(survey), [
    { email: 'ann@acme.test', name: 'Ann, B.', properties: { Plan: 'gold' } },
    { email: 'bob@acme.test', name: null, properties: {} },
  ]);
});

test('contact import --json prints one value, and the same file again adds no contact', async () => {
  const { survey } = await ask(db);
  const path = file('again.csv', 'email\nann@acme.test\nANN@acme.test\n');
  for (let times = 0; times < 2; times++) {
    const { code, stdout, stderr } = await run(
      'contact',
      'import',
      '--survey',
      survey,
      path,
      '--json',
    );
    assert.deepEqual([code, JSON.parse(stdout), stderr], [0, { contacts: 1, erased: 0 }, '']);
  }
  assert.equal((await contactsOf(survey)).length, 1);
});

test('contact import names each bad line and imports none', async () => {
  const { survey } = await ask(db);
  const path = file('bad.csv', 'email,name\nann@acme.test,Ann\nno-address,\n,Bob\n');
  const { code, stdout, stderr } = await run('contact', 'import', '--survey', survey, path);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(
    stderr,
    /line 3: "no-address" is not an email address\n.*line 4: the email is missing/,
  );
  assert.deepEqual(await contactsOf(survey), []);
});

for (const [why, content, complaint] of [
  ['is empty', '\n', /^askback: the file is empty$/m],
  [
    'has no column of addresses',
    'who;phone\nann;12\n',
    /line 1: the header row has no column named email, only who, phone$/m,
  ],
  [
    'has a line with too many columns',
    'email,name\na@b.test,A,x\n',
    /^askback: the file is not CSV: line 2: it has 3 values, more than the header row$/m,
  ],
  ['has a quote that is never closed', 'email\n"a@b.test\n', /line [12]/],
  ['is no text', Buffer.from('email\n\x81\x8d\n', 'latin1'), /it is not text in UTF-8, UTF-16 or/],
] as const) {
  test(`contact import refuses a file that ${why}`, async () => {
    const { survey } = await ask(db);
    const { code, stdout, stderr } = await run(
      'contact',
      'import',
      '--survey',
      survey,
      file('odd.csv', content),
    );
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, complaint);
    assert.match(stderr, /^askback: /);
  });
}

test('contact import reads standard input, and says when it is not UTF-8', async () => {
  const { survey } = await ask(db);
  const words = ['contact', 'import', '--survey', survey, '-'];
  const input = Buffer.from('E-Mail;Name;Ort\r\nann@acme.test;Zo\xeb;K\xf6ln\r\n', 'latin1');
  const { code, stdout, stderr } = await askback(words, environment, { input });
  assert.deepEqual(
    [code, stdout, stderr],
    [0, 'imported 1 contact\n', 'standard input is read as Windows-1252\n'],
  );
  assert.deepEqual(await contactsOf(survey), [
    { email: 'ann@acme.test', name: 'Zoë', properties: { Ort: 'Köln' } },
  ]);
});

test('an import of a missing file, or of a folder, is refused with a sentence', async () => {
  const { survey } = await ask(db);
  for (const command of [
    ['contact', 'import'],
    ['import', 'responses'],
  ]) {
    for (const [path, why] of [
      [join(folder, 'none.csv'), 'there is no such file'],
      [folder, 'it is a folder'],
    ] as const) {
      const { code, stderr } = await run(...command, '--survey', survey, path);
      assert.deepEqual([code, stderr], [1, `askback: ${path} cannot be read: ${why}\n`]);
    }
  }
});

test('an import for an unknown survey is refused, and for a malformed id it is wrong usage', async () => {
  const path = file('one.csv', 'email\nann@acme.test\n');
  for (const command of [
    ['contact', 'import'],
    ['import', 'responses'],
  ]) {
    const unknown = await run(...command, '--survey', unknownId, path);
    assert.deepEqual([unknown.code, unknown.stderr], [1, 'askback: survey not found\n']);
    const wrong = await run(...command, '--survey', 'spring', path);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--survey .*\nusage: askback /);
  }
});

test('an import without a file, or with two, is wrong usage', async () => {
  for (const files of [[], ['a.csv', 'b.csv']]) {
    const { code, stdout, stderr } = await run(
      'import',
      'responses',
      '--survey',
      unknownId,
      ...files,
    );
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /FILE is required|'b.csv' is one argument too many/);
  }
});

test('import responses adds history, prints what existed before, and publishes no event', async () => {
  const { survey, events } = await ask(db);
  const csv =
    'Score,Comment,Created At,Person Email\n9,Great,2024-03-01 10:00:00 UTC,ann@acme.test\n0,,2024-03-02,\n';
  const words = ['import', 'responses', '--survey', survey, file('history.csv', csv)];

  const first = await run(...words);
  assert.deepEqual([first.code, first.stdout, first.stderr], [0, 'imported 2 responses\n', '']);
  const second = await run(...words);
  assert.equal(second.stdout, 'imported 0 responses, 2 were there already\n');
  assert.deepEqual(JSON.parse((await run(...words, '--json')).stdout), {
    imported: 0,
    passed_over: 2,
    erased: 0,
  });

  const [tally] = await db`
    select sum(promoters)::int as promoters, sum(detractors)::int as detractors from survey_tallies
    where survey_id = ${survey}`;
  assert.deepEqual({ ...tally }, { promoters: 1, detractors: 1 });
  assert.deepEqual(await events(), []);
});

test('import responses names each bad line and imports none', async () => {
  const { survey, answers } = await ask(db, { type: 'csat' });
  const path = file('bad-answers.csv', 'score,created_at\n5,2024-01-01\n9,2024-01-01\n3,soon\n');
  const { code, stderr } = await run('import', 'responses', '--survey', survey, path);
  assert.equal(code, 1);
  assert.match(stderr, /line 3: the score 9 is not from 1 to 5\n.*line 4: "soon" is not a time/);
  assert.deepEqual(await answers(), []);
});

test('response release makes a response on hold count, once', async () => {
  const { organization, survey, contact, events, answers } = await ask(db);
  const of = { org_id: organization, survey_id: survey };
  const held = { contact_id: contact, source: 'link', held_reason: 'scores_opened', score: 9 };
  const id = await makeResponse(db, of, held);

  const released = await run('response', 'release', '--id', id, '--json');
  assert.deepEqual([released.code, released.stderr], [0, '']);
  assert.deepEqual(JSON.parse(released.stdout), { id, survey_id: survey, score: 9 });
  assert.deepEqual(
    (await answers()).map(({ held_reason }) => held_reason),
    [null],
  );
  assert.deepEqual(await events(), ['response.received', 'survey.completed']);

  const again = await run('response', 'release', '--id', id);
  assert.deepEqual([again.code, again.stderr], [1, 'askback: this response is not on hold\n']);
  assert.deepEqual(await events(), ['response.received', 'survey.completed']);
});

test('response release of an unknown response is refused', async () => {
  const { code, stdout, stderr } = await run('response', 'release', '--id', unknownId);
  assert.deepEqual([code, stdout, stderr], [1, '', 'askback: response not found\n']);
});
