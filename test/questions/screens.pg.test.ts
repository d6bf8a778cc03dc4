import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeQuestions, type Question } from '../../src/questions/definition.ts';
import { makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

const definition = mergeQuestions(
  [],
  [
    { kind: 'choice', text: 'Where from?', options: [{ label: 'Friend' }, { label: 'Web' }] },
    { kind: 'text', text: 'What else, {{first_name|dear customer}}?' },
  ],
  new Set(),
);
const [from, more] = definition as [Question, Question];
const friend = from.options![0]!.id;

const org = await makeOrganization(db);
const base = `/o/${await slugOfOrganization(db, org)}`;
const headers = await signIn(db, { org, role: 'viewer' });
const survey = await makeSurvey(db, org, { questions: db.json(definition as never) });
const of = { org_id: org, survey_id: survey };
const response = await makeResponse(db, of, { source: 'share', score: 9, category: 'promoter' });
await makeResponse(db, of, { source: 'share', score: 9, category: 'promoter' });
await db`
  insert into response_answers (org_id, response_id, answers)
  values (${org}, ${response}, ${db.json({
    [from.id]: { value: friend },
    [more.id]: { text: 'Roast <darker>' },
  } as never)})`;

async function page(path: string) {
  const answer = await app.request(`${base}${path}`, { headers });
  assert.equal(answer.status, 200, path);
  return await answer.text();
}

test('the page of a survey counts the answers and links to them', async () => {
  const html = await page(`/surveys/${survey}`);
  assert.match(html, /Follow-up questions/);
  assert.match(html, /1 answer of 2 responses/);
  const [, card = ''] = /id="q_(.*?)<ul class="funnel"/s.exec(html)!;
  assert.match(card, /is-promoter">Promoters<\/dt><dd>1 .*is-passive">Passives<\/dt><dd>0 /s);
  assert.match(html, /What else, dear customer\?/);
  assert.ok(html.includes(`responses?survey_id=${survey}&amp;answer.${from.id}=${friend}`));
  assert.ok(html.includes(`/surveys/${survey}/questions/${more.id}`));
});

test('text answers are listed with their scores', async () => {
  const html = await page(`/surveys/${survey}/questions/${more.id}`);
  assert.match(html, /Roast &lt;darker&gt;/);
  assert.ok(html.includes(`/responses/${response}`));
  const unknown = await app.request(`${base}/surveys/${survey}/questions/q_0`, { headers });
  assert.equal(unknown.status, 404);
});

test('a response shows its answers, and the inbox its filter by answer', async () => {
  const detail = await page(`/responses/${response}`);
  assert.match(detail, /Where from\?.*Friend.*What else, dear customer\?.*Roast &lt;darker&gt;/s);
  const filtered = await page(`/responses?survey_id=${survey}&answer.${from.id}=${friend}`);
  assert.match(filtered, /1 response/);
  assert.match(filtered, /Where from\?: Friend/);
  assert.match(filtered, /name="answer\.q_\w+" value="o_\w+"/);
});
