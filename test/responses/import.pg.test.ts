import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { importContacts } from '../../src/contacts/import.ts';
import { importResponses } from '../../src/responses/import.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function survey(over: Record<string, unknown> = {}) {
  const orgId = await makeOrganization(db);
  return { ...commandWriter(orgId), surveyId: await makeSurvey(db, orgId, over) };
}

const tools = {
  db,
  onProgress: () => {},
};

const delighted = `Response ID,Survey Type,Score,Comment,Created At,Person Name,Person Email
1,nps,9,"Great, really",2024-03-01 10:00:00 UTC,Ann,ann@people.test
2,nps,2,"Too
slow",2024-03-02T11:30:00Z,,bob@people.test
3,nps,7,,2024-03-02,,
`;

test('responses are imported with times, people and tallies', async () => {
  const where = await survey();
  assert.deepEqual(await importResponses(tools, where, delighted), {
    imported: 3,
    passed_over: 0,
    erased: 0,
  });

  const answers = await db`
    select r.score, r.category, r.comment, r.created_at, c.email
    from responses r left join contacts c on c.id = r.contact_id
    where r.survey_id = ${where.surveyId} order by r.created_at desc`;
  assert.deepEqual(
    answers.map(({ created_at, ...answer }) => [
      created_at.toISOString(),
      ...Object.values(answer),
    ]),
    [
      ['2024-03-02T11:30:00.000Z', 2, 'detractor', 'Too\nslow', 'bob@people.test'],
      ['2024-03-02T00:00:00.000Z', 7, 'passive', null, null],
      ['2024-03-01T10:00:00.000Z', 9, 'promoter', 'Great, really', 'ann@people.test'],
    ],
  );
  const days =
    await db`select to_char(hour at time zone 'UTC', 'YYYY-MM-DD') as day, sum(promoters)::int, sum(passives)::int as q, sum(detractors)::int as d
    from hour_tallies where survey_id = ${where.surveyId} and hour < '2025-01-01' group by 1 order by 1`;
  assert.deepEqual(
    days.map((day) => Object.values(day)),
    [
      ['2024-03-01', 1, 0, 0],
      ['2024-03-02', 0, 1, 1],
    ],
  );
});

test('importing the same file twice changes nothing', async () => {
  const where = await survey();
  await importResponses(tools, where, delighted);
  assert.deepEqual(await importResponses(tools, where, delighted), {
    imported: 0,
    passed_over: 3,
    erased: 0,
  });
});

test('equal anonymous rows are all imported, but only once', async () => {
  const where = await survey();
  const file = `score,created_at\n${'9,2024-01-01\n'.repeat(1500)}`;
  assert.deepEqual(await importResponses(tools, where, file), {
    imported: 1500,
    passed_over: 0,
    erased: 0,
  });
  assert.deepEqual(await importResponses(tools, where, file), {
    imported: 0,
    passed_over: 1500,
    erased: 0,
  });
});

test('equal rows of one person are all imported, but only once', async () => {
  const where = await survey();
  const lines = ['9,2024-01-01,ann@people.test', '9,2024-01-01,Ann@People.test'];
  for (const [many, imported] of [
    [1, 1],
    [2, 1],
    [2, 0],
  ] as const) {
    const file = `score,created_at,email\n${lines.slice(0, many).join('\n')}\n`;
    const passed_over = many - imported;
    assert.deepEqual(await importResponses(tools, where, file), {
      imported,
      passed_over,
      erased: 0,
    });
  }
});

test('a person can have several imported responses', async () => {
  const where = await survey();
  const file = 'score,created_at,email\n9,2023-01-01,a@b.test\n3,2024-01-01,A@b.test\n';
  assert.deepEqual(await importResponses(tools, where, file), {
    imported: 2,
    passed_over: 0,
    erased: 0,
  });
  const [contact] =
    await db`select status, responded_at from contacts where survey_id = ${where.surveyId}`;
  assert.equal(contact?.['responded_at'].toISOString(), '2024-01-01T00:00:00.000Z');
});

test('bad lines are named by number, and nothing is imported', async () => {
  const where = await survey({ type: 'csat' });
  const file =
    'Score,Created At,Email\n5,2024-01-01,a@b.test\n6,2024-01-01,\n1,yesterday,\n1,2024-01-01,unknown\n,2024-01-01,\n';
  await assert.rejects(importResponses(tools, where, file), {
    message:
      /line 3: the score 6 is not from 1 to 5\n.*line 4: "yesterday" is not a time such.*\n.*line 5: "unknown".*\n.*line 6: the score is missing/,
  });
  assert.equal((await db`select from responses where survey_id = ${where.surveyId}`).length, 0);
});

test('accepts all column names and time formats', async () => {
  const where = await survey();
  const times = {
    'Created At': '2024-03-01T10:00:00Z',
    'Responded At': '2024-03-01 10:00:00 UTC',
    Date: '2024-03-01 12:00:00 +0200',
    Timestamp: '1709287200',
    'Submitted At': '2024-03-01 10:00:00',
  };
  const words = ['Comment', 'Feedback', 'Answer', 'Comment', 'Comment'];
  for (const [place, [time, value]] of Object.entries(times).entries()) {
    const file = `${place % 2 ? 'Rating' : 'Score'},${time},${words[place]}\n8,${value},said ${place}\n`;
    assert.equal((await importResponses(tools, where, file)).imported, 1, time);
  }
  await importResponses(tools, where, 'Score,Date\n3,2024-03-01\n3,999999999\n');
  const rows = await db`
    select created_at, comment from responses where survey_id = ${where.surveyId} order by created_at, comment`;
  assert.deepEqual(
    rows.map(({ created_at, comment }) => [created_at.toISOString(), comment]),
    [
      ['2001-09-09T01:46:39.000Z', null],
      ['2024-03-01T00:00:00.000Z', null],
      ...[0, 1, 2, 3, 4].map((place) => ['2024-03-01T10:00:00.000Z', `said ${place}`]),
    ],
  );
});

const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const notTime = 'is not a time such as 2026-01-31 or 2026-01-31 09:30:00 UTC';
const badLines: [line: string, complaint: string][] = [
  [',2024-03-01,,', 'the score is missing'],
  ['11,2024-03-01,,', 'the score 11 is not from 0 to 10'],
  ['9,,,', 'the time is missing'],
  [`9,${at(86_400_000 + 3_600_000)},,`, ` ${notTime}`],
  ['9,12345678901,,', `"12345678901" ${notTime}`],
  ['9,20240301,,', `"20240301" ${notTime}`],
  ['9,05/01/2026,,', `"05/01/2026" ${notTime}`],
  ['9,5.1.2026 10:00,,', `"5.1.2026 10:00" ${notTime}`],
  ['9,2026-02-30,,', `"2026-02-30" ${notTime}`],
  ['9,0000-05-01,,', `"0000-05-01" ${notTime}`],
  [`9,2024-03-01,${'x'.repeat(5001)},`, 'the comment has more than 5000 characters'],
  ['9,2024-03-01,,ann', '"ann" is not an email address'],
];
for (const [line, complaint] of badLines) {
  test(`rejects a line: ${complaint}`, async () => {
    const where = await survey();
    await assert.rejects(
      importResponses(tools, where, `Score,Date,Comment,Email\n${line}\n`),
      ({ message }: Error) => message.includes('line 2: ') && message.endsWith(complaint),
    );
  });
}

test('imports the longest comment and a time within the next day', async () => {
  const where = await survey();
  const file = `Score,Date,Comment\n9,${at(86_400_000 - 60_000)},${'x'.repeat(5000)}\n`;
  assert.equal((await importResponses(tools, where, file)).imported, 1);
});

test('a file of several batches is imported with progress', async () => {
  const where = await survey();
  const steps: number[][] = [];
  const counted = { db, onProgress: (...step: number[]) => steps.push(step) };
  const rows = (line: (n: number) => string) =>
    Array.from({ length: 2001 }, (_, n) => line(n)).join('\n');
  const of = [2001, 2001, 2001];
  const people = `email,name\n${rows((n) => `p${n}@people.test,P ${n}`)}`;
  assert.deepEqual(await importContacts(counted, where, people), { contacts: 2001, erased: 0 });
  assert.deepEqual(
    steps,
    [1000, 2000, 2001].map((done, place) => [done, of[place]]),
  );
  const answers = `Score,Date,Email\n${rows((n) => `${n % 11},2024-03-01,p${n % 3}@people.test`)}`;
  const { imported } = await importResponses(counted, where, answers);
  assert.equal(imported, 2001);
  assert.deepEqual(steps.slice(3), steps.slice(0, 3));
  assert.equal((await importResponses(counted, where, answers)).passed_over, 2001);
});

test('columns named question:TEXT become answers, and no properties', async () => {
  const where = await survey();
  const file = `score,created_at,email,Question: How was the taste?,question:What else?
9,2024-03-01,ann@people.test,4,"Fresh
beans"
3,2024-03-02,bob@people.test,2,
`;
  assert.equal((await importResponses(tools, where, file)).imported, 2);
  const rows = await db`
    select c.email, answers_of(s.questions, a.answers) as answers, c.properties
    from responses r
    join surveys s on s.id = r.survey_id
    join contacts c on c.id = r.contact_id
    left join response_answers a on a.org_id = r.org_id and a.response_id = r.id
    where r.survey_id = ${where.surveyId} order by r.created_at`;
  assert.partialDeepStrictEqual(rows[0]!['answers'], [
    { question: 'How was the taste?', kind: 'scale', value: 4 },
    { question: 'What else?', kind: 'text', value: 'Fresh\nbeans' },
  ]);
  assert.deepEqual(
    rows[1]!['answers'].map((each: { value: unknown }) => each.value),
    [2],
  );
  assert.deepEqual(rows[0]!['properties'] ?? {}, {});
});
