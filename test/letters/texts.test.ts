import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inLanguage } from '../../src/letters/letter.ts';
import { arrivedMail } from '../support/make/survey-mail.ts';

const hostile = 'A<b>&"\'\r\nBcc: eve@example.com';

test('placeholders are filled and escaped in the subject and both parts', async () => {
  const survey = {
    subject: 'A question, {{name|you}} {{properties.plan}}',
    intro: 'Hello {{name}}!\nYou are on {{properties.plan|no}} plan.',
    question_text: 'Are you happy, {{first_name|dear reader}}?',
  };
  const properties = { plan: hostile };
  const mail = await arrivedMail({ survey, name: 'Ada Lovelace', properties });
  const plan = 'A<b>&"\' Bcc: eve@example.com';
  assert.equal(mail.subject, `A question, Ada Lovelace ${plan}`);
  assert.ok(!mail.headers.some(({ key }) => key === 'bcc'));
  assert.match(mail.text, /Hello Ada Lovelace!\nYou are on A<b>&"' Bcc: eve@example.com plan\./);
  assert.match(mail.text, /Are you happy, Ada\?/);
  assert.match(mail.html, /You are on A&lt;b&gt;&amp;&quot;&#39; Bcc: eve@example.com plan\./);
  assert.match(mail.html, /Are you happy, Ada\?/);
});

test('placeholders without a value use the fallback', async () => {
  const survey = { subject: '{{name|Hello}}', question_text: 'Happy, {{properties.x|friend}}?' };
  const { subject, text } = await arrivedMail({ survey, name: null });
  assert.equal(subject, 'Hello');
  assert.match(text, /Happy, friend\?/);
});

for (const name of ['Zoë', '山田 太郎', 'Ada '.repeat(30).trim(), '🎉'.repeat(40)]) {
  test(`a subject with ${name.slice(0, 12)} arrives whole, in valid lines`, async () => {
    const survey = { subject: 'Eine Frage an Sie, {{name}}: wie war es im Frühling?' };
    const { subject, raw } = await arrivedMail({ survey, name });
    assert.equal(subject, `Eine Frage an Sie, ${name}: wie war es im Frühling?`);
    const lines = raw.toString('latin1').split('\r\n');
    assert.ok(lines.every((line) => line.length <= 998 && /^[\x20-\x7e\t]*$/.test(line)));
  });
}

test('a mail in another language uses only texts of that language', async () => {
  const { questions, ...own } = {
    questions: { fr: { question_text: 'Êtes-vous content ?' } },
    question_text: 'Happy?',
    subject: 'Own subject',
    intro: 'Own intro',
    language: 'en',
  };
  const survey = inLanguage({ ...own, texts: questions }, 'fr');
  const { subject, text, html } = await arrivedMail({ survey });
  assert.equal(subject, 'Êtes-vous content ?');
  assert.ok(!text.includes('Own intro') && !html.includes('Own intro'));
  assert.match(html, /<h1[^>]* lang="fr"/);
});
