import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeQuestions, type Question } from '../../src/questions/definition.ts';
import { ask, asPerson, headingOf, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { readerOfThisThread } from '../support/probe/processor-time.ts';

const { db } = await testDatabase();
const { get, post, postJson, request } = visitor(db);

const definition = mergeQuestions(
  [],
  [
    {
      kind: 'choice',
      text: 'How did you hear of us?',
      options: [{ label: 'Friend' }, { label: 'Web' }],
      allow_other: true,
    },
    {
      kind: 'choices',
      text: 'What went wrong?',
      categories: ['detractor'],
      options: [{ label: 'Taste' }, { label: 'Price' }, { label: 'Time' }],
      allow_other: true,
    },
    { kind: 'scale', text: 'How was the taste?', min: 0, max: 5 },
    {
      kind: 'text',
      text: 'What else, {{first_name|friend}}?',
      texts: { de: { text: 'Und sonst?' } },
    },
  ],
  new Set(),
);
const [heard, wrong, taste, more] = definition as [Question, Question, Question, Question];
const option = (question: Question, at: number) => question.options![at]!.id;

const asking = (over: Record<string, unknown> = {}) =>
  ask(db, { questions: db.json(definition as never), ...over });

type Shown = { question_id: string; value: unknown; label: unknown; other: string | null };
const shownIn = async (answer: Response) =>
  ((await answer.json()) as { data: { answers: Shown[] } }).data.answers;
const stored = async (survey: string) => {
  const [row] = await db<{ answers: object; sent: boolean }[]>`
    select a.answers, a.sent from response_answers a
    join responses r on r.org_id = a.org_id and r.id = a.response_id where r.survey_id = ${survey}`;
  return row && { ...row };
};
const cookieOf = (page: Response) => page.headers.get('Set-Cookie')?.split(';')[0] ?? '';

test('the page after the score asks the questions of its category', async () => {
  const { personal } = await asking();
  const page = await post(personal, { score: '9' });
  const html = await page.text();
  assert.equal(headingOf(html), 'Thank you!');
  assert.match(html, new RegExp(`action="${personal}/answers"`));
  assert.match(html, /What else, friend\?/);
  assert.match(html, /Finish without answering/);
  assert.doesNotMatch(html, /What went wrong/);
  assert.match(
    page.headers.get('Content-Security-Policy') ?? '',
    /script-src 'sha256-[^;]*; connect-src 'self'/,
  );
  const finished = await (await get(`${personal}?finish`)).text();
  assert.equal(headingOf(finished), 'Thank you!');
  assert.doesNotMatch(finished, /<form/);
});

test('a form saves all answers, and the link shows them', async () => {
  const { personal, survey } = await asking();
  await post(personal, { score: '2' });
  const fields = new URLSearchParams([
    [heard.id, ''],
    [`${heard.id}.other`, 'Radio'],
    [wrong.id, ''],
    [wrong.id, option(wrong, 2)],
    [wrong.id, option(wrong, 0)],
    [taste.id, '4'],
    [more.id, ' Fresh beans \r\nplease '],
  ]);
  const sent = await request(`${personal}/answers`, {
    method: 'POST',
    headers: asPerson,
    body: fields,
  });
  const html = await sent.text();
  assert.equal(sent.status, 200);
  assert.match(html, /<dt[^>]*>What went wrong\?<\/dt><dd[^>]*>Taste; Time<\/dd>/);
  assert.deepEqual(await stored(survey), {
    answers: {
      [heard.id]: { other: 'Radio' },
      [wrong.id]: { value: [option(wrong, 0), option(wrong, 2)] },
      [taste.id]: { value: 4 },
      [more.id]: { text: 'Fresh beans \nplease' },
    },
    sent: true,
  });
  const later = await (await get(personal)).text();
  assert.match(later, /Fresh beans \nplease<\/textarea>/);

  await post(`${personal}/answers`, { [more.id]: '' });
  assert.ok(!(more.id in (await stored(survey))!.answers), 'an emptied text is removed');
});

test('JSON saves answer by answer, and returns them as the API shows them', async () => {
  const { shared, survey } = await asking();
  const first = await post(shared, { score: '8' });
  const json = (answers: unknown) =>
    request(`${shared}/answers`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: cookieOf(first) },
      body: JSON.stringify({ answers }),
    });
  await json([{ question_id: more.id, value: 'Nothing' }]);
  const answers = await shownIn(
    await json([{ question_id: heard.id, value: option(heard, 1), other: 'ignored' }]),
  );
  assert.deepEqual(answers, [
    {
      question_id: heard.id,
      question: heard.text,
      kind: 'choice',
      value: option(heard, 1),
      label: 'Web',
      other: null,
    },
    {
      question_id: more.id,
      question: more.text,
      kind: 'text',
      value: 'Nothing',
      label: null,
      other: null,
    },
  ]);
  assert.equal((await stored(survey))!.sent, false);
});

for (const [name, answer, complaint] of [
  ['an unknown question', { question_id: 'q_000000000000', value: 'x' }, /q_000000000000 is no/],
  ['a question of another category', { question_id: wrong.id, value: [] }, /is not a question/],
  ['an unknown option', { question_id: heard.id, value: 'o_00000000' }, /one of the options/],
  ['a value out of range', { question_id: taste.id, value: 6 }, /from 0 to 5/],
  ['a long text', { question_id: more.id, value: 'x'.repeat(5001) }, /at most 5000/],
  ['a long other', { question_id: heard.id, value: null, other: 'x'.repeat(201) }, /at most 200/],
] as const) {
  test(`nothing is saved with ${name}`, async () => {
    const { personal, survey } = await asking();
    await post(personal, { score: '9' });
    const answers = [{ question_id: taste.id, value: 3 }, answer];
    const refused = await postJson(`${personal}/answers`, { answers });
    assert.equal(refused.status, 400);
    const { error } = (await refused.json()) as { error: string };
    assert.match(error, complaint);
    assert.ok(error.includes(answer.question_id));
    assert.equal(await stored(survey), undefined);
  });
}

test('answers need a score, and are final after a day', async () => {
  const { personal, survey } = await asking();
  const answers = [{ question_id: taste.id, value: 3 }];
  const early = await postJson(`${personal}/answers`, { answers });
  assert.equal(early.status, 409);
  await post(personal, { score: '9' });
  await db`update responses set created_at = now() - interval '25 hours' where survey_id = ${survey}`;
  const late = await postJson(`${personal}/answers`, { answers });
  assert.deepEqual(
    [late.status, ((await late.json()) as { code: string }).code],
    [409, 'answers_final'],
  );
  assert.doesNotMatch(await (await get(personal)).text(), /<form/);
  assert.equal((await postJson('/s/unknown/answers', { answers })).status, 404);
});

test('a completed survey takes answers until somebody closes it', async () => {
  const { personal, survey } = await asking();
  await post(personal, { score: '9' });
  const answers = [{ question_id: taste.id, value: 3 }];
  assert.equal((await postJson(`${personal}/answers`, { answers })).status, 200);
  await db`update surveys set status = 'completed', completed_by = 'hand', completed_at = now() where id = ${survey}`;
  assert.equal((await postJson(`${personal}/answers`, { answers })).status, 400);
});

test('a form without a required answer is shown again with the others saved', async () => {
  const questions = definition.map((each) => ({ ...each, required: each.id === more.id }));
  const { personal, survey } = await asking({ questions: db.json(questions as never) });
  const first = await post(personal, { score: '9' });
  assert.doesNotMatch(await first.text(), /Finish without answering/);
  const sent = await post(`${personal}/answers`, { [taste.id]: '5', [more.id]: '' });
  assert.equal(sent.status, 400);
  assert.match(await sent.text(), /Please answer this question\./);
  assert.deepEqual(await stored(survey), { answers: { [taste.id]: { value: 5 } }, sent: false });
});

test('a form for outdated questions is shown again with its input', async () => {
  const { personal, survey } = await asking();
  await post(personal, { score: '9' });
  const left = definition.filter(({ id }) => id !== taste.id);
  await db`update surveys set questions = ${db.json(left as never)} where id = ${survey}`;
  const sent = await post(`${personal}/answers`, { [taste.id]: '5', [more.id]: 'Keep me' });
  const html = await sent.text();
  assert.equal(sent.status, 400);
  assert.match(html, /role="alert"/);
  assert.match(html, /Keep me<\/textarea>/);
});

test('a form is saved when the questions change at the same time', async () => {
  const { personal, survey } = await asking();
  await post(personal, { score: '9' });
  const left = definition.filter(({ id }) => id !== wrong.id);
  const { sent } = await db.begin(async (tx) => {
    await tx`select from surveys where id = ${survey} for update`;
    await tx`update surveys set questions = ${tx.json(left as never)} where id = ${survey}`;
    const sent = post(`${personal}/answers`, { [more.id]: 'Keep me' });
    await untilLockWaits(db);
    return { sent };
  });
  assert.equal((await sent).status, 200);
  assert.deepEqual((await stored(survey))?.answers, { [more.id]: { text: 'Keep me' } });
});

test('a frame answers by the id of its response', async () => {
  const { shared, survey } = await asking();
  const embedded = shared.replace('/f/', '/e/');
  const html = await (await post(embedded, { score: '9' })).text();
  const [, id] = /name="response_id" value="([^"]+)"/.exec(html) ?? [];
  assert.ok(id);
  const framed = await post(`${embedded}/answers`, { response_id: id, [taste.id]: '1' });
  assert.equal(framed.status, 200);
  assert.deepEqual(await stored(survey), { answers: { [taste.id]: { value: 1 } }, sent: true });
});

test('a shared link accepts answers only with its cookie', async () => {
  const { shared, survey, answers } = await asking();
  await post(shared, { score: '9' });
  const [{ id } = { id: '' }] = await answers();
  const named = await post(`${shared}/answers`, { response_id: id, [taste.id]: '1' });
  assert.equal(named.status, 409);
  assert.equal(await stored(survey), undefined);
});

test('answers of a response on hold are held and replaced with it', async () => {
  const { personal, survey, letTimePass } = await asking();
  await post(personal, { score: '9', topic: 'x' });
  assert.equal((await post(`${personal}/answers`, { [taste.id]: '1' })).status, 200);
  const facets = async () =>
    Number(
      (await db`select count(*) from response_facets where survey_id = ${survey}`)[0]!['count'],
    );
  assert.equal(await facets(), 0);
  await letTimePass('1 minute');
  await post(personal, { score: '3' });
  assert.equal(await stored(survey), undefined);
  await post(`${personal}/answers`, { [taste.id]: '2' });
  assert.equal(await facets(), 1);
});

test('questions appear in the language of the reader', async () => {
  const { shared } = await asking({
    texts: db.json({ de: { question_text: 'Wie wahrscheinlich?' } }),
  });
  const german = { ...asPerson, 'Accept-Language': 'de' };
  const html = await (await post(shared, { score: '9' }, german)).text();
  assert.match(html, /Und sonst\?/);
  assert.match(html, /Ohne Antwort beenden/);
});

test('links of a test mail record no answers', async () => {
  const { shared, survey } = await asking();
  const tested = `/s/test.${shared.slice(3)}`;
  const html = await (await post(tested, { score: '9' })).text();
  assert.match(html, new RegExp(`action="${tested.replace('.', '\\.')}/answers"`));
  const sent = await post(`${tested}/answers`, { score: '9', [taste.id]: '5' });
  assert.match(await sent.text(), /How was the taste\?/);
  assert.equal(await stored(survey), undefined);
});

test('a form with very many fields is refused at once', async () => {
  const { personal } = await asking();
  await post(personal, { score: '9' });
  const body = Array.from({ length: 60_000 }, (_, at) => `a${at.toString(36)}`).join('&');
  const used = readerOfThisThread();
  const refused = await request(`${personal}/answers`, {
    method: 'POST',
    headers: { ...asPerson, 'Content-Type': 'application/x-www-form-urlencoded' },
    body,
  });
  assert.equal(refused.status, 413);
  assert.ok(used.ms() < 2000, `${used.ms()} ms of this thread`);
});

test('a form loses NUL characters and keeps its text', async () => {
  const { personal, survey } = await asking();
  await post(personal, { score: '9', comment: 'We\0ll' });
  const sent = await post(`${personal}/answers`, { [more.id]: 'Go\0od' });
  assert.equal(sent.status, 200);
  assert.deepEqual((await stored(survey))!.answers, { [more.id]: { text: 'Good' } });
});

test('the last of several answers to a question counts', async () => {
  const { personal, survey } = await asking();
  await post(personal, { score: '9' });
  const save = (values: unknown[]) =>
    postJson(`${personal}/answers`, {
      answers: values.map((value) => ({ question_id: taste.id, value })),
    });
  await save([2]);
  await save([null, 3]);
  assert.deepEqual((await stored(survey))!.answers, { [taste.id]: { value: 3 } });
  await save([4, null]);
  assert.equal(await stored(survey), undefined, 'nothing is left to complete');
});

test('a crowd behind one address is limited, and keeps its input', async () => {
  const { shared, survey } = await asking();
  const first = await post(shared, { score: '9' });
  await db`
    insert into rate_windows (subject, minute, count)
    values (${`share:${survey}:answers:192.0.2.1`}, date_trunc('minute', now()) + interval '1 minute', 3000)`;
  const cookie = { ...asPerson, Cookie: cookieOf(first) };
  const page = await post(`${shared}/answers`, { [more.id]: 'Keep me' }, cookie);
  assert.equal(page.status, 429);
  assert.match(await page.text(), /Keep me<\/textarea>/);
  assert.equal(await stored(survey), undefined);
});
