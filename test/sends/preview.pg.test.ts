import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const browser = await memberBrowser(db, {
  app: bareApp(db),
  org: await makeOrganization(db),
  role: 'editor',
});
const preview = async (typed: Record<string, string>) => {
  const fields = { name: 'Spring', question_text: 'Happy?', type: 'nps', language: 'en' };
  const sender = { from_name: 'Ann', from_email: 'ann@acme.test' };
  const answer = await browser.post(`${browser.home}/surveys/preview`, {
    ...fields,
    ...sender,
    ...typed,
  });
  assert.equal(answer.status, 200);
  return await answer.text();
};

const mistakes: [typed: Record<string, string>, field: string][] = [
  [{ question_text: 'Happy, {{x}}?' }, 'Question'],
  [{ subject: '{{x}}' }, 'Subject'],
  [{ question_text: '{{x}}', subject: '{{x}}' }, 'Question'],
  [{ subject: '{{x}}', intro: '{{x}}', thanks: '{{x}}' }, 'Subject'],
  [{ from_name: 'x'.repeat(1000) }, 'From name'],
];
for (const [typed, field] of mistakes) {
  test(`preview with a wrong ${Object.keys(typed).join(' and ')} names ${field}`, async () => {
    assert.match(await preview(typed), new RegExp(`No preview yet\\. ${field}: `));
  });
}

test('preview leaves out a question that is not written yet', async () => {
  const added = { 'questions.1.kind': 'choice', 'questions.1.text': 'From where?' };
  const written = { 'questions.2.kind': 'text', 'questions.2.text': 'What else?' };
  const html = await preview({ 'preview.show': 'questions', ...added, ...written });
  assert.match(html, /What else\?/);
  assert.doesNotMatch(html, /From where|No preview/);
});

/** Text of the thank-you page for an example answer. */
const examples: [type: string, kind: string, score: number][] = [
  ['nps', 'promoter', 9],
  ['nps', 'passive', 7],
  ['nps', 'detractor', 0],
  ['ces', 'detractor', 1],
  ['star5', 'promoter', 4],
];
for (const [type, kind, score] of examples) {
  test(`preview thanks a ${kind} of type ${type} for score ${score}`, async () => {
    const shown = await preview({ type, 'preview.show': kind });
    assert.match(shown, new RegExp(`<dd>${score} (out of|stars)`));
  });
}
