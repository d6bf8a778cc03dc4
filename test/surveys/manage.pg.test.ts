import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Json = Record<string, unknown>;
type Called = { status: number; data: Json; error: string; code: string };

async function client() {
  const { id, read, write } = await makeClient(db);
  const call = async (method: string, path = '', body?: unknown, headers: object = write) => {
    const init = { method, headers: { ...headers }, body: body ? JSON.stringify(body) : null };
    const answer = await app.request(`/api/v1/surveys${path}`, init);
    const text = await answer.text();
    return { status: answer.status, ...(text && JSON.parse(text)) } as Called;
  };
  const acts = async () =>
    (await db`select act from audit_events where org_id = ${id} order by at`).map(
      (row) => row['act'],
    );
  return { id, read, call, acts };
}

const wish = {
  name: 'Spring',
  question_text: 'How likely are you to recommend us, {{first_name|dear reader}}?',
  from_name: 'Ann',
  from_email: 'ann@acme.test',
};

const everything = {
  ...wish,
  type: 'csat',
  reply_to: 'bob@acme.test',
  language: 'en',
  subject: 'One question, {{name|please}}',
  intro: 'Hello!\nA short question.',
  follow_up: { detractor: 'What went wrong?' },
  thanks: { promoter: { text: 'Say so', link_url: 'https://r.test/a', link_text: 'Review' } },
  texts: { de: { question_text: 'Wie war es?', thanks: 'Danke' } },
  reminders: [{ after_days: 3 }, { after_days: 10, subject: 'Still one question' }],
  ask_after_days: 7,
  send_window: { days: ['mon', 'fri'], from: '09:00', to: '17:00', time_zone: 'Europe/Berlin' },
  embed: { origins: ['https://shop.test'], position: 'inline', delay_seconds: 0, every_days: 1 },
};

test('creates a survey from name, question and sender', async () => {
  const org = await client();
  const { status, data } = await org.call('POST', '', wish);
  assert.equal(status, 201);
  const { status: state, type, audience, reply_to, language, texts, reminders } = data;
  assert.deepEqual(
    { state, type, audience, reply_to, language, texts, reminders },
    {
      state: 'active',
      type: 'nps',
      audience: null,
      reply_to: 'ann@acme.test',
      language: 'en',
      texts: {},
      reminders: [],
    },
  );
  assert.match(String(data['share_url']), /^https:\/\/askback\.test\/f\/[\w-]{16}$/);
  assert.deepEqual(await org.acts(), ['survey.created']);
});

test('stores and returns every field of a survey', async () => {
  const org = await client();
  const { data } = await org.call('POST', '', everything);
  const read = await org.call('GET', `/${data['id']}`, undefined, org.read);
  assert.deepEqual(read.data, data);
  for (const [name, value] of Object.entries(everything)) assert.deepEqual(data[name], value, name);
});

for (const [field, value, complaint] of [
  [
    'question_text',
    'Hello {{frist_name}}',
    /question_text: \{\{frist_name\}\} is not a placeholder/,
  ],
  ['texts', { en: { question_text: 'x' } }, /texts: en is the survey's own language/],
  ['embed', { origins: ["https://a.test; script-src 'x'"] }, /origin/],
] as const) {
  test(`rejects ${field} ${JSON.stringify(value).slice(0, 50)}`, async () => {
    const org = await client();
    const { status, error } = await org.call('POST', '', { ...everything, [field]: value });
    assert.equal(status, 400);
    assert.match(error, complaint);
    assert.equal((await db`select from surveys where org_id = ${org.id}`).length, 0);
  });
}

test('PATCH keeps omitted fields and removes texts with null', async () => {
  const org = await client();
  const { data } = await org.call('POST', '', everything);
  const changed = await org.call('PATCH', `/${data['id']}`, { name: 'Summer', subject: null });
  const { updated_at: _, ...kept } = data;
  const { updated_at: __, ...now } = changed.data;
  assert.deepEqual(now, { ...kept, name: 'Summer', subject: null });
  assert.deepEqual(await org.acts(), ['survey.created', 'survey.changed']);
});

test('PATCH validates changes together with stored fields', async () => {
  const org = await client();
  const { data } = await org.call('POST', '', everything);
  const { status, error } = await org.call('PATCH', `/${data['id']}`, { language: 'de' });
  assert.deepEqual([status, /own language/.test(error)], [400, true]);
});

test('existing contacts are due from the day ask_after_days was set', async () => {
  const org = await client();
  const { data } = await org.call('POST', '', everything);
  const since = async () =>
    (await db`select ask_after_days_since as at from surveys where id = ${String(data['id'])}`)[0]![
      'at'
    ];
  const first = await since();
  await org.call('PATCH', `/${data['id']}`, { ask_after_days: 7 });
  assert.deepEqual(await since(), first);
  await org.call('PATCH', `/${data['id']}`, { ask_after_days: 8 });
  assert.ok((await since()) > first);
  await org.call('PATCH', `/${data['id']}`, { ask_after_days: null });
  assert.equal(await since(), null);
});

test('type and audience cannot change once there are responses', async () => {
  const org = await client();
  for (const held_reason of [null, 'two scores opened']) {
    const id = await makeSurvey(db, org.id);
    await makeResponse(db, { org_id: org.id, survey_id: id }, { held_reason });
    for (const change of [{ type: 'csat' }, { audience: 'employee' }]) {
      const { status, code } = await org.call('PATCH', `/${id}`, change);
      assert.deepEqual([status, code], [409, 'survey_has_answers']);
    }
    assert.equal((await org.call('PATCH', `/${id}`, { type: 'nps', name: 'New' })).status, 200);
  }
});

test('open, close and reopen are idempotent', async () => {
  const org = await client();
  const { data } = await org.call('POST', '', { ...wish, status: 'draft' });
  const id = String(data['id']);
  const step = async (act: string) => {
    const { status, data: after, code } = await org.call('POST', `/${id}/${act}`);
    return status === 200 ? after['status'] : code;
  };
  assert.equal(await step('reopen'), 'survey_draft');
  for (const act of ['open', 'open', 'reopen']) assert.equal(await step(act), 'active', act);
  for (const act of ['close', 'close']) assert.equal(await step(act), 'completed', act);
  assert.equal(await step('open'), 'survey_completed');
  assert.equal(await step('reopen'), 'active');
  assert.deepEqual(await org.acts(), [
    'survey.created',
    'survey.opened',
    'survey.closed',
    'survey.reopened',
  ]);
});

test('reopen accepts a survey whose last response arrives meanwhile', async () => {
  const org = await client();
  const id = await makeSurvey(db, org.id);
  // Runs between the two statements of reopen, after the first has found no completed survey.
  await db`
    create function complete() returns trigger language plpgsql as $$ begin
      update surveys set status = 'completed', completed_by = 'answers', completed_at = now();
      return null;
    end $$`;
  await db`
    create trigger complete_late after update on surveys
    for each statement when (pg_trigger_depth() = 0) execute function complete()`;
  const { status, code } = await org.call('POST', `/${id}/reopen`);
  await db`drop function complete cascade`;
  assert.deepEqual([status, code], [200, undefined]);
});

test('only an unused survey can become a draft again', async () => {
  const org = await client();
  const id = await makeSurvey(db, org.id);
  assert.equal((await org.call('PATCH', `/${id}`, { status: 'draft' })).data['status'], 'draft');
  await org.call('POST', `/${id}/open`);
  await makeResponse(db, { org_id: org.id, survey_id: id });
  assert.equal((await org.call('PATCH', `/${id}`, { status: 'draft' })).code, 'survey_in_use');
});

test('a copy is a draft with the same content and its own link', async () => {
  const org = await client();
  const { data } = await org.call('POST', '', everything);
  const { status, data: copy } = await org.call('POST', `/${data['id']}/copy`);
  assert.equal(status, 201);
  const { id: _, share_url, created_at: __, updated_at: ___, ...same } = copy;
  const { id, share_url: url, created_at, updated_at, ...original } = data;
  assert.deepEqual(same, { ...original, name: 'Spring (copy)', status: 'draft' });
  assert.notEqual(share_url, url);
});

test('deleting a survey with answers requires answers=delete', async () => {
  const org = await client();
  const id = await makeSurvey(db, org.id);
  const of = { org_id: org.id, survey_id: id };
  await makeContact(db, of);
  await makeResponse(db, of, { held_reason: 'two scores opened' });
  const refused = await org.call('DELETE', `/${id}`);
  assert.deepEqual([refused.status, refused.code], [409, 'survey_has_answers']);
  assert.match(refused.error, /answers=delete/);
  assert.equal((await org.call('DELETE', `/${id}?answers=yes`)).status, 400);
  assert.equal((await org.call('DELETE', `/${id}?answers=delete`)).status, 204);
  for (const table of ['surveys', 'contacts', 'responses']) {
    assert.equal((await db`select from ${db(table)} where org_id = ${org.id}`).length, 0, table);
  }
});
