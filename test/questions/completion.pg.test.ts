import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactedExcerpt } from '../../src/lib/redact/redact.ts';
import { publishCompleted, sweepCompletions } from '../../src/questions/completion.ts';
import { mergeQuestions, type Question } from '../../src/questions/definition.ts';
import { makeWebhook } from '../support/make/rows.ts';
import { ask, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const { post, postJson } = visitor(db);
const tools = { db, excerpt: redactedExcerpt };

const definition = mergeQuestions(
  [],
  [
    { kind: 'text', text: 'What else?' },
    { kind: 'choice', text: 'Why?', options: [{ label: 'A' }, { label: 'B' }], allow_other: true },
  ],
  new Set(),
);
const [more, why] = definition as [Question, Question];

async function scene(events = ['response.completed']) {
  const asked = await ask(db, { questions: db.json(definition as never) });
  await makeWebhook(db, asked.organization, { events });
  const bodies = async () =>
    (
      await db<{ body: string }[]>`
        select body from events where org_id = ${asked.organization} and type = 'response.completed'`
    ).map(({ body }) => JSON.parse(body));
  const jobs = async () =>
    await db<{ payload: { org_id: string; response_id: string } }[]>`
      select payload from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id
      where t.identifier = 'questions.publish_completed' and payload ->> 'org_id' = ${asked.organization}`;
  const runJobs = async () => {
    for (const { payload } of await jobs()) await publishCompleted(tools, payload);
  };
  return { ...asked, bodies, runJobs };
}

test('submitting the form publishes its redacted answers once', async () => {
  const { personal, survey, bodies, runJobs, answers } = await scene();
  await post(personal, { score: '9' });
  const text = `${'Very good. '.repeat(9)} Write to ann@acme.test`;
  await post(`${personal}/answers`, {
    [more.id]: `ann@acme.test: ${text}`,
    [`${why.id}.other`]: 'X',
  });
  await post(`${personal}/answers`, { [more.id]: 'Changed' });
  assert.deepEqual(await bodies(), []);
  await runJobs();
  await runJobs();
  await sweepCompletions(tools);
  const [body, ...others] = await bodies();
  const [{ id } = { id: '' }] = await answers();
  assert.equal(others.length, 0);
  assert.deepEqual(
    { ...body, timestamp: '' },
    {
      version: '1',
      surveyId: survey,
      responseId: id,
      score: 9,
      answers: [
        { questionId: more.id, kind: 'text', value: 'Changed' },
        { questionId: why.id, kind: 'choice', value: null },
      ],
      timestamp: '',
    },
  );
});

test('text answers are redacted and cut', async () => {
  const { personal, bodies, runJobs } = await scene();
  await post(personal, { score: '9' });
  await post(`${personal}/answers`, { [more.id]: `ann@acme.test said ${'well '.repeat(50)}` });
  await runJobs();
  const [{ answers }] = (await bodies()) as [{ answers: { value: string }[] }];
  assert.match(answers[0]!.value, /^\[email\] said well/);
  assert.ok(answers[0]!.value.length <= 100);
});

test('answers that were saved and not sent are published after 30 minutes', async () => {
  const { personal, organization, bodies } = await scene();
  await post(personal, { score: '9' });
  await postJson(`${personal}/answers`, { answers: [{ question_id: more.id, value: 'Later' }] });
  await sweepCompletions(tools);
  assert.deepEqual(await bodies(), []);
  await db`
    update response_answers set saved_at = now() - interval '31 minutes' where org_id = ${organization}`;
  await sweepCompletions(tools);
  await sweepCompletions(tools);
  assert.equal((await bodies()).length, 1);
});

test('answers on hold are published once the response is released', async () => {
  const { personal, organization, bodies, runJobs } = await scene();
  await post(personal, { score: '9', topic: 'x' });
  await post(`${personal}/answers`, { [more.id]: 'Held' });
  await runJobs();
  await sweepCompletions(tools);
  assert.deepEqual(await bodies(), []);
  await db`update responses set held_reason = null where org_id = ${organization}`;
  await sweepCompletions(tools);
  assert.equal((await bodies()).length, 1);
});

test('answers are completed even without a subscriber', async () => {
  const { personal, organization, bodies } = await scene(['response.received']);
  await post(personal, { score: '9' });
  await post(`${personal}/answers`, { [more.id]: 'Nobody listens' });
  await sweepCompletions(tools);
  const [row] = await db`
    select completed_at is not null as done from response_answers where org_id = ${organization}`;
  assert.deepEqual([row!['done'], await bodies()], [true, []]);
});

test('a text that cannot be redacted delays no other response', async () => {
  const [stuck, other] = [await scene(), await scene()];
  for (const [{ personal }, text] of [
    [stuck, 'Stuck'],
    [other, 'Fine'],
  ] as const) {
    await post(personal, { score: '9' });
    await post(`${personal}/answers`, { [more.id]: text });
  }
  const excerpt: typeof tools.excerpt = async (text) => {
    if (text === 'Stuck') throw new Error('no redaction');
    return text;
  };
  await assert.rejects(sweepCompletions({ db, excerpt }), /no redaction/);
  assert.deepEqual([(await stuck.bodies()).length, (await other.bodies()).length], [0, 1]);
  await db`delete from response_answers where org_id = ${stuck.organization}`;
});

test('texts written after the event are analyzed again', async () => {
  const { personal, organization, runJobs } = await scene();
  await db`update organizations set ai_enabled = true where id = ${organization}`;
  await post(personal, { score: '9' });
  await post(`${personal}/answers`, { [more.id]: 'First' });
  await runJobs();
  const waiting = () => db`delete from waiting_analyses where org_id = ${organization} returning 1`;
  assert.equal((await waiting()).length, 1);
  await postJson(`${personal}/answers`, { answers: [{ question_id: more.id, value: 'Second' }] });
  assert.equal((await waiting()).length, 1);
});

test('clearing a text deletes its analysis', async () => {
  const { personal, organization, runJobs } = await scene();
  await post(personal, { score: '9' });
  await post(`${personal}/answers`, { [more.id]: 'First' });
  await runJobs();
  await db`
    insert into analyses (org_id, response_id, sentiment, provider)
    select org_id, id, 'positive', 'test' from responses where org_id = ${organization}`;
  const save = (value: string | null) =>
    postJson(`${personal}/answers`, { answers: [{ question_id: more.id, value }] });
  const analyses = () => db`select from analyses where org_id = ${organization}`;
  await save('Second');
  assert.equal((await analyses()).length, 1);
  await save(null);
  assert.equal((await analyses()).length, 0);
});

test('saving only empty answers sends no event', async () => {
  const { personal, organization, bodies } = await scene();
  await post(personal, { score: '9' });
  const answers = [{ question_id: more.id, value: null }];
  assert.equal((await postJson(`${personal}/answers`, { answers })).status, 200);
  assert.equal((await db`select from response_answers where org_id = ${organization}`).length, 0);
  await sweepCompletions(tools);
  assert.deepEqual(await bodies(), []);
});
