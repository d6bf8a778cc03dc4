import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeQuestions, type Question } from '../../src/questions/definition.ts';
import { makeClient } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Called = {
  status: number;
  data: { id: string; share_url: string; questions: Question[] };
  error: string;
  code: string;
};

async function client() {
  const { id, write } = await makeClient(db);
  const call = async (method: string, path = '', body?: unknown) => {
    const init = { method, headers: { ...write }, body: body ? JSON.stringify(body) : null };
    const answer = await app.request(`/api/v1/surveys${path}`, init);
    return { status: answer.status, ...((await answer.json()) as object) } as Called;
  };
  const make = async (questions: unknown) => {
    const { data } = await call('POST', '', { ...survey, questions });
    return { id: data.id, share: new URL(data.share_url).pathname, questions: data.questions };
  };
  return { id, call, make };
}

const survey = {
  name: 'Beans',
  question_text: 'How likely are you to recommend us?',
  from_name: 'Ann',
  from_email: 'ann@roaster.test',
};
const why = {
  kind: 'choices',
  text: 'What went wrong, {{first_name|you}}?',
  categories: ['detractor'],
  options: [{ label: 'Taste' }, { label: 'Price' }],
  allow_other: true,
  texts: { de: { text: 'Was lief schief?' } },
};
const taste = { kind: 'scale', text: 'How was the taste?', min: 1, max: 5, max_label: 'Great' };
const more = { kind: 'text', text: 'What can we improve?', required: true };

test('a survey keeps its questions, with ids from the service', async () => {
  const org = await client();
  const { id, questions } = await org.make([why, taste, more]);
  const [first, second, third] = questions;
  assert.match(first!.id, /^q_\w{12}$/);
  assert.match(first!.options![0]!.id, /^o_\w{8}$/);
  assert.partialDeepStrictEqual(first, {
    ...why,
    options: [{ label: 'Taste' }, { label: 'Price' }],
  });
  assert.partialDeepStrictEqual(second, {
    ...taste,
    options: null,
    categories: null,
    required: false,
  });
  assert.partialDeepStrictEqual(third, { ...more, min: null, archived: false, texts: {} });
  const same = await org.call('PATCH', `/${id}`, { questions });
  assert.deepEqual(same.data.questions, questions, 'what GET returned is accepted back');
});

for (const [name, questions, complaint] of [
  ['a choice with one option', [{ ...why, options: [{ label: 'Taste' }] }], /options: must be 2/],
  ['equal labels', [{ ...why, options: [{ label: 'A' }, { label: 'A' }] }], /unique labels/],
  ['a scale without an end', [{ ...taste, max: null }], /max: is required/],
  ['a scale beyond 10', [{ ...taste, max: 11 }], /from 3 to 10/],
  ['options of a text', [{ ...more, options: [{ label: 'A' }, { label: 'B' }] }], /not for text/],
  ['an unknown id', [{ ...more, id: 'q_000000000000' }], /not a question of this survey/],
  ['an unknown placeholder', [{ ...more, text: 'Well, {{nme}}?' }], /not a placeholder/],
  [
    'an option that objects cannot hold',
    [
      {
        ...why,
        options: [
          { id: '__proto__', label: 'A' },
          { id: 'b', label: 'B' },
        ],
      },
    ],
    /must not be __proto__/,
  ],
  ['eleven questions', Array.from({ length: 11 }, () => more), /at most 10/],
] as const) {
  test(`questions are refused: ${name}`, async () => {
    const org = await client();
    const { status, error } = await org.call('POST', '', { ...survey, questions });
    assert.equal(status, 400);
    assert.match(error, complaint);
  });
}

test('PATCH updates by id, removes unanswered questions, archives the rest', async () => {
  const org = await client();
  const { id, share, questions } = await org.make([why, taste, more]);
  const [first, second] = questions as [Question, Question];
  const answered = await app.request(share, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 3 }),
  });
  const { data } = (await answered.json()) as { data: { id: string } };
  const saved = await app.request(`${share.replace('/f/', '/e/')}/answers`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      response_id: data.id,
      answers: [{ question_id: first.id, value: [first.options![0]!.id] }],
    }),
  });
  assert.equal(saved.status, 200, await saved.clone().text());

  const kind = await org.call('PATCH', `/${id}`, {
    questions: [{ id: first.id, kind: 'text', options: null, allow_other: false }],
  });
  assert.deepEqual([kind.status, kind.code], [409, 'question_has_answers']);
  const option = await org.call('PATCH', `/${id}`, {
    questions: [{ id: first.id, options: [{ label: 'Other' }, { label: 'Price' }] }],
  });
  assert.deepEqual([option.status, option.code], [409, 'question_has_answers']);
  const texts = await org.call('PATCH', `/${id}`, {
    questions: [second, { id: first.id, text: 'Why?', required: true, categories: null }],
  });
  assert.deepEqual(
    texts.data.questions.map((each) => [each.id, each.text]),
    [
      [second.id, second.text],
      [first.id, 'Why?'],
    ],
  );

  const archived = await org.call('PATCH', `/${id}`, { questions: [] });
  assert.deepEqual(
    archived.data.questions.map((each) => [each.id, each.archived]),
    [[first.id, true]],
  );
  const restored = await org.call('PATCH', `/${id}`, { questions: [{ id: first.id }] });
  assert.equal(restored.data.questions[0]!.archived, false);
});

test('a survey rejects more than 200 questions, including archived ones', () => {
  const text = (at: number) => ({ kind: 'text' as const, text: `Question ${at}?` });
  const archived = Array.from({ length: 200 }, (_, at) => ({ ...text(at), archived: true }));
  const full = mergeQuestions([], archived, new Set());
  assert.throws(() => mergeQuestions(full, [text(200)], new Set()), /keeps at most 200/);
});

test('a change of questions waits for an answer that is being saved', async () => {
  const org = await client();
  const { id, share, questions } = await org.make([taste]);
  const scored = await app.request(share, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 3 }),
  });
  const { data } = (await scored.json()) as { data: { id: string } };
  const answers = { [questions[0]!.id]: { value: 5 } };
  const change = await db.begin(async (tx) => {
    const saved = await tx`
      select from save_answers(${org.id}, ${id}, ${data.id}, null, ${tx.json(questions as never)},
                               ${tx.json(answers)}, '{}', false)`;
    assert.equal(saved.length, 1);
    // Every role can take advisory locks, and would block all answers.
    const advisory = await tx`
      select from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'`;
    assert.equal(advisory.length, 0);
    const removal = org.call('PATCH', `/${id}`, { questions: [] });
    await untilLockWaits(db);
    return { removal };
  });
  const { data: changed } = await change.removal;
  assert.deepEqual(
    changed.questions.map((each) => [each.id, each.archived]),
    [[questions[0]!.id, true]],
  );
});

test('a copy has the questions under new ids', async () => {
  const org = await client();
  const { id, questions } = await org.make([why, more]);
  const { data } = await org.call('POST', `/${id}/copy`);
  assert.deepEqual(
    data.questions.map(({ text }) => text),
    questions.map(({ text }) => text),
  );
  assert.ok(data.questions.every((copy) => questions.every((each) => each.id !== copy.id)));
});
