import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formPage } from '../../src/responses/view/form.tsx';
import { surveyTypes, typeFacts } from '../../src/survey-types.ts';
import { languageOf, languages, scoreLabel } from '../../src/web/language.ts';
import { arrivedMail } from '../support/make/survey-mail.ts';

for (const tag of languages.keys()) {
  for (const type of surveyTypes) {
    test(`${tag}, ${type}: page and mail use the same labels for the ends`, async () => {
      const language = languageOf(tag);
      const { text, html } = await arrivedMail({ survey: { type, language: tag } });
      const survey = { type, question: 'Q?', language: tag, sender };
      const page = formPage({ survey, language, action: '/s/t', trapUrl: '/s/t/x' });
      const { lowest, highest } = typeFacts(type);
      for (const score of [lowest, highest]) {
        const words = scoreLabel(type, score, language.texts);
        assert.ok(words);
        assert.ok(labelOf(page.html, score).includes(words), `the page's ${score}`);
        assert.ok(lineOf(text, score).includes(words), `the text part's ${score}`);
        assert.ok(
          html.includes(type === 'thumbs' ? words : `${score} = ${words}`),
          `the HTML part's ${score}`,
        );
      }
    });
  }
}

const sender = { name: 'Acme', color: '#2f6fed' };

/** Visible and spoken text of a score on a page. */
function labelOf(html: string, score: number): string {
  const label = html
    .split('<label class="choice">')
    .find((part) => part.includes(`value="${score}"`));
  assert.ok(label);
  return label.slice(0, label.indexOf('</label>'));
}

/** The line above the link of a score in the text part of a mail. */
function lineOf(text: string, score: number): string {
  const lines = text.split('\n');
  return lines[lines.findIndex((line) => line.endsWith(`?score=${score}`)) - 1] ?? '';
}
