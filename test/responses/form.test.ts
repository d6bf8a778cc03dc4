import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AskedSurvey, type FormProps, formPage } from '../../src/responses/view/form.tsx';
import { thanksPage } from '../../src/responses/view/messages.tsx';
import { isScore, type SurveyType, surveyTypes } from '../../src/survey-types.ts';
import { languageOf } from '../../src/web/language.ts';

const ask = (type: SurveyType): AskedSurvey => ({
  type,
  question: 'How was it?',
  language: 'en',
  sender: { name: 'Acme', color: '#2f6fed' },
});

function form(type: SurveyType, over: Partial<FormProps> = {}): string {
  const addresses = { action: '/s/t', trapUrl: '/s/t/trap' };
  return formPage({ survey: ask(type), language: languageOf('en'), ...addresses, ...over }).html;
}

const inputs = (html: string) => html.match(/<input[^>]*name="score"[^>]*>/g) ?? [];

for (const type of surveyTypes) {
  test(`a ${type} form offers each score once, none selected`, () => {
    const offered = inputs(form(type)).map((input) => Number(/value="(\d+)"/.exec(input)?.[1]));
    const all = Array.from({ length: 12 }, (_, score) => score);
    assert.deepEqual(
      offered.toSorted((a, b) => a - b),
      all.filter((score) => isScore(type, score)),
    );
    assert.equal(
      inputs(form(type)).some((input) => input.includes('checked')),
      false,
    );
  });

  test(`a ${type} form selects the score of the link`, () => {
    const chosen = inputs(form(type, { score: 1 })).filter((input) => input.includes('checked'));
    assert.equal(chosen.length, 1);
    assert.match(chosen[0]!, /value="1"/);
  });
}

/** Scores as a screen reader reads them, in page order. */
for (const [type, readOut] of [
  ['nps', ['0 Not at all likely', ...'123456789', '10 Extremely likely']],
  ['csat', ['Very dissatisfied', 'Dissatisfied', 'Neutral', 'Satisfied', 'Very satisfied']],
  ['ces', ['1 Very difficult', ...'23456', '7 Very easy']],
  ['star5', ['1 star, Poor', '2 stars', '3 stars', '4 stars', '5 stars, Excellent']],
  ['thumbs', ['Thumbs up', 'Thumbs down']],
] as const) {
  test(`the ends of a ${type} form are labelled`, () => {
    const labels = form(type).match(/<label class="choice.*?<\/label>/gs) ?? [];
    const words = labels.map((label) =>
      label
        .replace(/<svg.*?<\/svg>|<[^>]+>/gs, '')
        .replace(/\s+/g, ' ')
        .trim(),
    );
    assert.deepEqual(words, readOut);
  });
}

test('a comment comes back unchanged, even with a leading line break', () => {
  const html = form('nps', { complaint: 'scoreMissing', comment: '\n</textarea> & more' });
  assert.match(html, /<textarea[^>]*>\n\n&lt;\/textarea&gt; &amp; more<\/textarea>/);
});

test('a button link is added to the default thanks', () => {
  const answer = { score: 4, comment: null, at: new Date() };
  const thanks = { text: '', link_url: 'https://r.test/', link_text: 'Review us' };
  const page = { survey: ask('star5'), language: languageOf('en'), answer };
  const usual = /<h1>.*?<\/p>/s.exec(thanksPage(page).html)![0];
  const { html } = thanksPage({ ...page, thanks });
  assert.ok(html.includes(usual));
  assert.match(html, /<a href="https:\/\/r\.test\/"[^>]*>Review us</);
});

test('the thanks page shows the answer, escaped', () => {
  const answer = { score: 4, comment: '<i>fine</i>', at: new Date() };
  const { html } = thanksPage({ survey: ask('star5'), language: languageOf('en'), answer });
  assert.match(html, /4 stars/);
  assert.match(html, /&lt;i&gt;fine&lt;\/i&gt;/);
});
