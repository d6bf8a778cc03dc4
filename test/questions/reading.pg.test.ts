import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeQuestions, type Question } from '../../src/questions/definition.ts';
import type { QuestionResult } from '../../src/questions/results.ts';
import { makeClient, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

const definition = mergeQuestions(
  [],
  [
    {
      kind: 'choices',
      text: 'Why?',
      categories: ['detractor'],
      options: [{ label: 'Taste' }, { label: 'Price; or so' }],
      allow_other: true,
    },
    { kind: 'scale', text: 'Why?', min: 0, max: 10 },
    { kind: 'choice', text: 'Where from?', options: [{ label: 'Friend' }, { label: 'Web' }] },
    { kind: 'text', text: 'score' },
  ],
  new Set(),
);
const [why, taste, from, more] = definition as [Question, Question, Question, Question];
const [taken, price] = why.options!.map(({ id }) => id) as [string, string];
const [friend, web] = from.options!.map(({ id }) => id) as [string, string];

type Answered = { score: number; answers: object; over?: object };

async function scene(responses: readonly Answered[]) {
  const { id: org, read } = await makeClient(db);
  const survey = await makeSurvey(db, org, { questions: db.json(definition as never) });
  for (const { score, answers, over } of responses) {
    const category = score <= 6 ? 'detractor' : score <= 8 ? 'passive' : 'promoter';
    const of = { org_id: org, survey_id: survey };
    const id = await makeResponse(db, of, { source: 'share', score, category, ...over });
    await db`
      insert into response_answers (org_id, response_id, answers)
      values (${org}, ${id}, ${db.json(answers as never)})`;
  }
  const get = async (path: string) => {
    const answer = await app.request(`/api/v1${path}`, { headers: read });
    return { status: answer.status, text: await answer.text() };
  };
  const json = async (path: string) => JSON.parse((await get(path)).text);
  return { org, survey, get, json };
}

const responses: Answered[] = [
  {
    score: 2,
    answers: {
      [why.id]: { value: [taken, price] },
      [taste.id]: { value: 3 },
      [more.id]: { text: '=Sour, and "late"\nvery' },
    },
  },
  { score: 4, answers: { [why.id]: { value: [price], other: 'Rude' }, [taste.id]: { value: 10 } } },
  { score: 9, answers: { [from.id]: { value: web } }, over: { properties: { plan: 'pro' } } },
  { score: 10, answers: { [from.id]: { value: friend } } },
  { score: 10, answers: {} },
  { score: 0, answers: { [why.id]: { value: [taken] } }, over: { held_reason: 'hidden_field' } },
];

test('a response carries its answers in the order of the survey', async () => {
  const { json, survey } = await scene(responses.slice(0, 1));
  const { data } = await json(`/responses?survey_id=${survey}`);
  const answers = [
    {
      question_id: why.id,
      question: 'Why?',
      kind: 'choices',
      value: [taken, price],
      label: ['Taste', 'Price; or so'],
      other: null,
    },
    { question_id: taste.id, question: 'Why?', kind: 'scale', value: 3, label: null, other: null },
    {
      question_id: more.id,
      question: 'score',
      kind: 'text',
      value: '=Sour, and "late"\nvery',
      label: null,
      other: null,
    },
  ];
  assert.deepEqual(data[0].answers, answers);
  assert.deepEqual((await json(`/responses/${data[0].id}`)).data.answers, answers);
});

test('results count answers by option and category, without those on hold', async () => {
  const { json, survey } = await scene(responses);
  const { data } = (await json(`/surveys/${survey}/questions`)) as { data: QuestionResult[] };
  const [first, second, third, fourth] = data;
  assert.deepEqual(first, {
    id: why.id,
    kind: 'choices',
    text: 'Why?',
    archived: false,
    asked: 2,
    answered: 2,
    options: [
      { id: taken, label: 'Taste', count: 1, pct: 50 },
      { id: price, label: 'Price; or so', count: 2, pct: 100 },
    ],
    other_count: 1,
    mean: null,
    by_category: { promoter: 0, passive: 0, detractor: 2 },
  });
  assert.deepEqual([second!.asked, second!.answered, second!.mean], [5, 2, 6.5]);
  assert.deepEqual(third!.by_category, { promoter: 2, passive: 0, detractor: 0 });
  assert.deepEqual([fourth!.answered, fourth!.options, fourth!.mean], [1, [], null]);

  const filtered = await json(`/surveys/${survey}/questions?category=promoter&property.plan=pro`);
  assert.deepEqual(
    filtered.data.map(({ asked, answered }: QuestionResult) => [asked, answered]),
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [1, 0],
    ],
  );
});

test('asked is never less than answered when a question is limited later', async () => {
  const { json, survey } = await scene(responses);
  const limited = definition.map((each) => ({ ...each, categories: ['detractor'] }));
  await db`update surveys set questions = ${db.json(limited as never)} where id = ${survey}`;
  const { data } = (await json(`/surveys/${survey}/questions`)) as { data: QuestionResult[] };
  assert.deepEqual(
    data.map(({ asked, answered }) => [asked, answered]),
    [
      [2, 2],
      [2, 2],
      [4, 2],
      [2, 1],
    ],
  );
});

test('responses, scores and trends are filtered by an answer', async () => {
  const { json, get, survey } = await scene(responses);
  const found = async (query: string) =>
    (await json(`/responses?survey_id=${survey}&${query}`)).meta.total;
  assert.equal(await found(`answer.${why.id}=${price}`), 2);
  assert.equal(await found(`answer.${why.id}=${price}&answer.${why.id}=${taken}`), 1);
  assert.equal(await found(`answer.${taste.id}=10`), 1);
  assert.equal(await found('answer.q_000000000000=x'), 0);
  assert.equal(await found(`held=true&answer.${why.id}=${taken}`), 1);
  assert.equal((await json(`/nps?answer.${from.id}=${web}`)).data.total, 1);
  assert.equal((await get(`/nps/trend?answer.${from.id}=${web}`)).status, 200);
  assert.equal((await get('/responses?answer.why=1')).status, 400);
});

test('a search finds text answers', async () => {
  const { json, survey } = await scene(responses);
  for (const word of ['sour', 'Rude']) {
    const { meta } = await json(`/responses?survey_id=${survey}&search=${word}`);
    assert.equal(meta.total, 1, word);
  }
});

test('an export has a column for each question', async () => {
  const { get, survey } = await scene(responses.slice(0, 3));
  const [header, ...rows] = (await get(`/responses/export?survey_id=${survey}`)).text.split('\r\n');
  assert.match(header!, /,Why\?,Why\? 2,Where from\?,score 2$/);
  assert.match(rows[0]!, /,,,Web,$/);
  assert.match(rows[1]!, /,Price; or so;Rude,10,,$/);
  assert.match(rows[2]!, /,Taste;Price; or so,3,,"'=Sour, and ""late""\nvery"$/);
  const lines = (await get(`/responses/export?survey_id=${survey}&format=jsonl`)).text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ answers }) => answers.length),
    [1, 2, 3],
  );
});

test('another organization finds no results', async () => {
  const { survey } = await scene([]);
  const { read } = await makeClient(db);
  const answer = await app.request(`/api/v1/surveys/${survey}/questions`, { headers: read });
  assert.equal(answer.status, 404);
});
