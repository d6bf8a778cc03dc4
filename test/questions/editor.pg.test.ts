import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../../src/questions/definition.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function editor() {
  const org = await makeOrganization(db);
  const base = `/o/${await slugOfOrganization(db, org)}/surveys`;
  const session = await signIn(db, { org, role: 'editor' });
  const post = async (path: string, fields: Record<string, string>) => {
    const headers = {
      ...session,
      'Content-Type': 'application/x-www-form-urlencoded',
      'Sec-Fetch-Site': 'same-origin',
    };
    const body = new URLSearchParams({ ...survey, ...fields }).toString();
    const answer = await app.request(`${base}${path}`, { method: 'POST', body, headers });
    return { status: answer.status, text: await answer.text() };
  };
  const stored = async () => {
    const [row] = await db<{ id: string; questions: Question[] }[]>`
      select id, questions from surveys where org_id = ${org}`;
    return row!;
  };
  const get = async (path: string) =>
    await (await app.request(`${base}${path}`, { headers: session })).text();
  return { post, get, stored };
}

const survey = {
  name: 'Beans',
  question_text: 'Happy?',
  type: 'nps',
  from_name: 'Ann',
  from_email: 'ann@roaster.test',
  language: 'en',
};
const choice = {
  'questions.1.kind': 'choice',
  'questions.1.text': 'Where from?',
  'questions.1.options.1.id': 'o_friend00',
  'questions.1.options.1.label': 'Friend',
  'questions.1.options.2.label': 'Web',
  'questions.1.options.3.label': '',
  'questions.1.categories': 'detractor',
  'questions.1.allow_other': 'on',
  languages: 'de',
  'texts.de.question_text': 'Zufrieden?',
  'questions.1.texts.de.text': 'Woher?',
  'questions.1.texts.de.options.o_friend00': 'Freund',
};
const text = { 'questions.2.kind': 'text', 'questions.2.text': 'What else?' };

/** The texts of the questions in the order of the form. */
const orderIn = (html: string) =>
  [...html.matchAll(/name="questions\.\d+\.text"[^>]*value="([^"]*)"/g)].map(([, value]) => value);

test('the form saves questions, and shows them as they are saved', async () => {
  const { post, get, stored } = await editor();
  assert.equal((await post('', { ...choice, ...text })).status, 303);
  const { id, questions } = await stored();
  assert.partialDeepStrictEqual(questions[0], {
    kind: 'choice',
    text: 'Where from?',
    categories: ['detractor'],
    allow_other: true,
    options: [{ id: 'o_friend00', label: 'Friend' }, { label: 'Web' }],
    texts: { de: { text: 'Woher?', options: { o_friend00: 'Freund' } } },
  });
  const html = await get(`/${id}/edit`);
  assert.deepEqual(orderIn(html), ['Where from?', 'What else?']);
  assert.match(html, /value="Freund"/);
  assert.match(html, /Question 1: Single choice/);
});

test('buttons add, move and remove questions without saving', async () => {
  const { post } = await editor();
  const added = await post('', { ...text, act: 'question-add:scale' });
  assert.match(added.text, /Question 2: Scale/);
  const moved = await post('', { ...choice, ...text, act: 'question-up:2' });
  assert.deepEqual(orderIn(moved.text), ['What else?', 'Where from?']);
  const removed = await post('', { ...choice, ...text, act: 'question-remove:1' });
  assert.deepEqual(orderIn(removed.text), ['What else?']);
  for (const label of ['Add text question', 'Add multiple-choice question', 'Remove question']) {
    assert.ok(moved.text.includes(label), label);
  }
});

test('mistakes are shown at their question', async () => {
  const { post } = await editor();
  const empty = await post('', { ...text, 'questions.2.text': ' ' });
  assert.equal(empty.status, 422);
  assert.match(empty.text, /id="questions\.2\.text-error"|id="questions\.1\.text-error"/);
  const few = await post('', { ...choice, 'questions.1.options.2.label': '' });
  assert.match(few.text, /Must be 2 to 20\./);
});

test('the preview shows the questions in each language', async () => {
  const { post } = await editor();
  const fields = { ...choice, ...text, 'preview.show': 'questions', 'preview.language': 'de' };
  const { text: html } = await post('/preview', fields);
  assert.match(html, /Woher\?.*Freund/s);
  assert.doesNotMatch(html, /<script/);
});
