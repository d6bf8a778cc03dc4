import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { importExport, openExport } from '../../src/importers/import.ts';
import { otherService } from '../../src/importers/rows.ts';
import { ask } from '../support/probe/ask.ts';
import { commandRunner } from '../support/probe/command.ts';
import { testDatabase } from '../support/probe/database.ts';
import { secretKey } from '../support/processes/program.ts';
import * as samples from './samples.ts';

const { db, url } = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'importers-'));
const run = commandRunner({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  ASKBACK_ERASURES_FILE: join(folder, 'erasures.jsonl'),
});
after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

type Service = 'delighted' | 'asknicely' | 'responses';

/** Runs the import, and removes the name of the folder from its messages. */
async function take(service: Service, survey: string, ...words: string[]) {
  const ran = await run('import', service, '--survey', survey, ...words);
  const short = (text: string) => text.replaceAll(`${folder}/`, '');
  return { code: ran.code, stdout: short(ran.stdout), stderr: short(ran.stderr) };
}

const takeJson = async (service: Service, survey: string, ...words: string[]) => {
  const { stdout, stderr } = await take(service, survey, ...words, '--json');
  assert.equal(stderr, '');
  return JSON.parse(stdout);
};

const responsesOf = async (survey: string) =>
  await db`
    select r.score, r.category, r.comment, r.created_at as at, r.properties, c.email,
           array(select t.name from response_tags rt join tags t on t.id = rt.tag_id
                 where rt.response_id = r.id order by t.name) as tags,
           array(select n.author || ': ' || n.text from response_notes n where n.response_id = r.id) as notes
    from responses r left join contacts c on c.id = r.contact_id
    where r.survey_id = ${survey} order by r.created_at`;

const contactsOf = async (survey: string) =>
  (
    await db`select email, name, properties, status from contacts
      where survey_id = ${survey} and email !~ '^[0-9a-f-]{36}@' order by email`
  ).map((row) => ({ ...row }));

const everythingOf = async (organization: string) => ({
  responses: await db`select * from responses where org_id = ${organization} order by id`,
  contacts: await db`select * from contacts where org_id = ${organization} order by id`,
  tags: await db`select * from response_tags where org_id = ${organization} order by response_id, tag_id`,
  notes: await db`select * from response_notes where org_id = ${organization} order by id`,
  suppressions: await db`select * from suppressions where org_id = ${organization} order by id`,
  audit: await db`select * from audit_events where org_id = ${organization} order by id`,
  jobs: await db`select count(*) from test.jobs where payload ->> 'org_id' = ${organization}`,
});

test('Delighted responses keep times, people, tags and notes', async () => {
  const { survey } = await ask(db);
  const path = file('responses.csv', samples.delightedResponses);
  const { code, stderr } = await take('delighted', survey, path);
  assert.deepEqual([code, stderr], [0, '']);
  const rows = await responsesOf(survey);
  assert.deepEqual(
    rows.map(({ at, score, category, comment, email, tags, notes }) => [
      at.toISOString(),
      score,
      category,
      comment,
      email,
      tags,
      notes,
    ]),
    [
      [
        '2024-03-01T10:00:00.000Z',
        10,
        'promoter',
        'Great, really',
        'ann@people.test',
        ['onboarding', 'vip'],
        ['Delighted: Called her back'],
      ],
      ['2024-03-02T11:30:00.000Z', 3, 'detractor', 'Too\nslow', 'bob@people.test', ['slow'], []],
      ['2024-03-02T12:00:00.000Z', 8, 'passive', null, null, [], []],
      ['2025-03-01T10:00:00.000Z', 9, 'promoter', null, 'ann@people.test', [], []],
    ],
  );
  assert.deepEqual(rows[2]?.['properties'], { 'Delighted Source': 'Web' });
  const contacts = await contactsOf(survey);
  assert.deepEqual(
    contacts.find(({ email }) => email === 'ann@people.test'),
    {
      email: 'ann@people.test',
      name: 'Ann Miller-Smith',
      status: 'responded',
      properties: {
        Plan: 'platinum',
        'Delighted Source': 'Email',
      },
    },
  );
});

test('Delighted columns that end in ? become answers to archived questions', async () => {
  const { survey } = await ask(db);
  await take('delighted', survey, file('questions.csv', samples.delightedResponses));
  const [row] = await db<{ questions: { text: string; kind: string; archived: boolean }[] }[]>`
    select questions from surveys where id = ${survey}`;
  assert.deepEqual(
    row!.questions.map(({ text, kind, archived }) => [text, kind, archived]),
    [['What could we do better?', 'text', true]],
  );
  const answers = await db`
    select a.words, a.completed_at is not null as done from response_answers a
    join responses r on r.org_id = a.org_id and r.id = a.response_id where r.survey_id = ${survey}
    order by words`;
  assert.deepEqual(
    answers.map((each) => ({ ...each })),
    [
      { words: 'Nothing', done: true },
      { words: 'Speed', done: true },
    ],
  );
});

test('columns named question:TEXT become answers to questions of that text', async () => {
  const { survey } = await ask(db);
  const text = `score,created_at,email,Question: How was the taste?,question:What else,plan
9,2024-03-01,ann@people.test,4,"Fresh
beans",pro
`;
  assert.equal((await take('responses', survey, file('own.csv', text))).code, 0);
  const [row] = await db`
    select answers_of(s.questions, a.answers) as answers, r.properties
    from responses r
    join surveys s on s.id = r.survey_id
    join response_answers a on a.org_id = r.org_id and a.response_id = r.id
    where r.survey_id = ${survey}`;
  assert.partialDeepStrictEqual(row!['answers'], [
    { question: 'How was the taste?', kind: 'scale', value: 4 },
    { question: 'What else', kind: 'text', value: 'Fresh\nbeans' },
  ]);
  assert.deepEqual(row!['properties'], { plan: 'pro' });
});

test('importing a file again changes nothing', async () => {
  const { organization, survey } = await ask(db);
  const path = file('again.csv', samples.delightedResponses);
  await take('delighted', survey, path);
  const before = await everythingOf(organization);
  const again = await takeJson('delighted', survey, path);
  assert.deepEqual(again.new, {
    responses: 0,
    contacts: 0,
    unsubscribed: 0,
    bounced: 0,
    erased: 0,
  });
  assert.deepEqual(again.figures.after, again.figures.file);
  assert.deepEqual(await everythingOf(organization), before);
});

test('import causes no mail, event or notification', async () => {
  const { organization, survey, events } = await ask(db);
  await db`update organizations set ai_enabled = true where id = ${organization}`;
  await take('delighted', survey, file('silent.csv', samples.delightedResponses));
  assert.deepEqual(await events(), []);
  assert.equal((await db`select from mails where org_id = ${organization}`).length, 0);
  assert.equal(
    (await db`select from test.jobs where payload ->> 'org_id' = ${organization}`).length,
    0,
  );
  const waiting = await db`select is_history from waiting_analyses where org_id = ${organization}`;
  assert.deepEqual([...waiting], [{ is_history: true }, { is_history: true }]);
});

test('Delighted people, unsubscribes and bounces are recognized', async () => {
  const { organization, survey } = await ask(db);
  const { delightedUnsubscribes, delightedBounces, delightedResponses } = samples;
  for (const content of [delightedUnsubscribes, delightedBounces, delightedResponses]) {
    assert.equal((await take('delighted', survey, file('export.csv', content))).code, 0);
  }
  const people = file('people.csv', samples.delightedPeople);
  const taken = await takeJson('delighted', survey, people);
  assert.deepEqual(
    [taken.kind, taken.found.people, taken.new.contacts, taken.left_out],
    ['people', 2, 1, { 'without address': 1 }],
  );
  const suppressed = await db`
    select email, kind, created_at from suppressions where org_id = ${organization} order by email`;
  assert.deepEqual(
    suppressed.map(({ email, kind, created_at }) => [email, kind, created_at.toISOString()]),
    [
      ['bob@people.test', 'unsubscribed', '2024-05-01T08:00:00.000Z'],
      ['dan@people.test', 'unsubscribed', '2024-05-02T08:00:00.000Z'],
      ['gone@people.test', 'bounced', '2024-06-01T08:00:00.000Z'],
    ],
  );
  const contacts = await contactsOf(survey);
  assert.deepEqual(
    contacts.map(({ email, status, properties }) => [email, status, properties['Plan']]),
    [
      ['ann@people.test', 'responded', 'diamond'],
      ['bob@people.test', 'responded', 'silver'],
      ['zoe@people.test', 'pending', 'gold'],
    ],
  );
});

test('AskNicely times are seconds, and unanswered rows are skipped', async () => {
  const { survey } = await ask(db);
  const path = file('asknicely.csv', samples.askNicelyResponses);
  const taken = await takeJson('asknicely', survey, path);
  assert.deepEqual(taken.left_out, { unanswered: 1 });
  assert.deepEqual(taken.figures.after, {
    responses: 3,
    promoters: 1,
    passives: 1,
    detractors: 1,
    nps: 0,
  });
  const rows = await responsesOf(survey);
  assert.deepEqual(
    rows.map(({ at, score, email, tags, notes }) => [at.toISOString(), score, email, tags, notes]),
    [
      ['2021-02-24T18:41:59.000Z', 8, 'aiman@people.test', [], []],
      [
        '2021-02-24T19:41:59.000Z',
        10,
        'rebecca@people.test',
        ['delivery', 'staff'],
        ['AskNicely: Follow up in May'],
      ],
      ['2021-02-25T18:41:59.000Z', 1, 'cross@people.test', ['delivery'], []],
    ],
  );
  const contacts = await contactsOf(survey);
  assert.deepEqual(contacts.find(({ name }) => name === 'Rebecca Elm')?.['properties'], {
    segment: 'VIP',
    city_c: 'Christchurch',
  });
});

test('AskNicely contacts become contacts, unsubscribes and bounces', async () => {
  const { organization, survey } = await ask(db);
  const path = file('contacts.csv', samples.askNicelyContacts);
  const { code, stdout } = await take('asknicely', survey, path);
  assert.equal(code, 0);
  assert.match(stdout, /^inactive people +1 +skipped$/m);
  assert.deepEqual(
    (await contactsOf(survey)).map(({ email, properties }) => [email, properties]),
    [['john@people.test', { segment: 'VIP Customer', source: 'intercom' }]],
  );
  const suppressed = await db`
    select email, kind from suppressions where org_id = ${organization} order by email`;
  assert.deepEqual(
    suppressed.map((row) => Object.values(row)),
    [
      ['hal@people.test', 'bounced'],
      ['uma@people.test', 'unsubscribed'],
    ],
  );
});

test('invalid rows are named by line and column, and others are imported', async () => {
  const { survey } = await ask(db);
  const bad = `Score,Comment,Created At,Person Email
9,fine,2024-03-01 10:00:00 UTC,ann@people.test
11,,2024-03-01 10:00:00 UTC,bob@people.test
8,"two
lines",01/03/2024,carl@people.test
7,,2024-03-01 10:00:00 UTC,no-address
5,,2024-02-30 10:00:00 UTC,dora@people.test
`;
  const { code, stdout } = await take('delighted', survey, file('bad.csv', bad));
  assert.equal(code, 1);
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.startsWith('  bad.csv')),
    [
      '  bad.csv, line 3, column "Score": "11" is not a score from 0 to 10',
      '  bad.csv, line 4, column "Created At": "01/03/2024" is not a time such as 2024-03-01 10:00:00 UTC',
      '  bad.csv, line 6, column "Person Email": "no-address" is not an email address',
      '  bad.csv, line 7, column "Created At": "2024-02-30 10:00:00 UTC" is not a time such as 2024-03-01 10:00:00 UTC',
    ],
  );
  assert.match(stdout, /^invalid +4 +skipped, see below$/m);
  assert.match(stdout, /^in the survey after +1 .*\nAll imported: file and survey match\.$/m);

  const mended = bad.replace('11,', '10,');
  const again = await takeJson('delighted', survey, file('bad.csv', mended));
  assert.deepEqual([again.new.responses, again.figures.after.responses], [1, 2]);
});

test('unusable file is refused and nothing is written', async () => {
  const { organization, survey } = await ask(db);
  const before = await everythingOf(organization);
  for (const [name, content, complaint] of [
    ['colors.csv', 'Color,Size\nred,1\n', /not a Delighted export: line 1 /],
    ['bare.csv', 'Score,Created At\n', /bare\.csv has no rows/],
    ['csat.csv', 'Survey Type,Score,Created At\ncsat,5,2024-03-01\n', /type "csat"/],
    ['quote.csv', 'Score,Created At\n9,2024-03-01\n9,"2024\n', /line 3: a quote/],
    ['book.csv', 'PK\x03\x04', /workbook/],
    ['unsubscribes.csv', 'Email,Date\nann@people.test,x\n', /unsubscribed if all of them did/],
  ] as const) {
    const { code, stdout, stderr } = await take('delighted', survey, file(name, content));
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, complaint);
  }
  assert.deepEqual(await everythingOf(organization), before);
});

test('--dry-run reports everything and writes nothing', async () => {
  const { organization, survey } = await ask(db);
  const before = await everythingOf(organization);
  const path = file('dry.csv', samples.delightedResponses);
  const { code, stdout } = await take('delighted', survey, '--dry-run', path);
  assert.equal(code, 0);
  assert.match(stdout, /Dry run: nothing was written\./);
  assert.match(stdout, /^in the file +4 /m);
  assert.deepEqual(await everythingOf(organization), before);
});

test('import responses adds nothing when it ends after a batch', async () => {
  const { organization, survey } = await ask(db);
  const rows = Array.from({ length: 600 }, (_, at) => `9,2026-01-01,row ${at}`);
  const pieces = () => [['score,created_at,comment', ...rows].join('\n')];
  const opened = await openExport(otherService, { name: 'r.csv', pieces }, undefined);
  const onProgress = () => {
    throw new Error('interrupted');
  };
  const writer = { ...commandWriter(organization), surveyId: survey, author: 'CSV' };
  const options = { type: 'nps', zone: 'UTC', dryRun: false, allOrNone: true } as const;
  const run = importExport({ db, onProgress }, writer, { export: opened, ...options });
  await assert.rejects(run, /interrupted/);
  assert.equal((await responsesOf(survey)).length, 0);
});
