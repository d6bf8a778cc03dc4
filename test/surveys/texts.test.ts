import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageFor, textsIn } from '../../src/surveys/texts.ts';

const survey = {
  language: 'en',
  question_text: 'How was it?',
  subject: 'A question',
  intro: null,
  follow_up: null,
  thanks: 'Thanks',
  texts: {
    de: { question_text: 'Wie war es?', thanks: 'Danke' },
    'pt-BR': { question_text: 'Como foi?' },
  },
};

for (const [property, accepted, language] of [
  ['de', 'pt', 'de'],
  ['DE_at', undefined, 'de'],
  ['sv', 'pt;q=0.5, sv', 'pt-BR'],
  [undefined, 'sv, de;q=0.2, en;q=0.4', 'en'],
  [undefined, 'de;q=0, sv', 'en'],
  [7, '*', 'en'],
  ['', '', 'en'],
] as const) {
  test(`chooses ${language} for contact ${property} and browser ${accepted}`, () => {
    assert.equal(languageFor(survey, { property, accepted }), language);
  });
}

const alike = {
  language: 'pt',
  texts: Object.fromEntries(
    ['pt-BR', 'de-CH', 'de-AT'].map((tag) => [tag, { question_text: 'x' }]),
  ),
};
for (const [wished, language] of [
  ['PT-br', 'pt-BR'],
  ['pt_BR', 'pt-BR'],
  ['pt-AO', 'pt'],
  ['DE', 'de-CH'],
  ['de-AT', 'de-AT'],
] as const) {
  test(`chooses ${language} for ${wished} among similar languages`, () => {
    assert.equal(languageFor(alike, { property: wished }), language);
    assert.equal(languageFor(alike, { accepted: `sv, ${wished.replace('_', '-')}` }), language);
  });
}

test('a survey in one language is always shown in it', () => {
  const wishes = { property: 'de', accepted: 'de' };
  assert.equal(languageFor({ language: 'sv', texts: {} }, wishes), 'sv');
});

test('missing texts of a translation do not fall back to another one', () => {
  assert.deepEqual(textsIn(survey, 'de'), {
    question_text: 'Wie war es?',
    thanks: 'Danke',
    subject: null,
    intro: null,
    follow_up: null,
  });
  assert.equal(textsIn(survey, 'en').subject, 'A question');
});
