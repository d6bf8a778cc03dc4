import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analysis } from '../../src/responses/screens/response.tsx';

const response = {
  ai_sentiment: 'negative',
  ai_themes: [] as string[],
  ai_churn_risk: 'high',
  ai_summary: 'Too slow.',
  comment: 'slow',
};
const origin = { provider: 'built-in', analyzed: true };

const shown = (over: object, from: object = {}) =>
  String(Analysis({ response: { ...response, ...over }, origin: { ...origin, ...from } } as never))
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

const cases: Record<string, { over?: object; from?: object; says: RegExp }> = {
  'no theme': { says: /Sentiment Negative Themes none Churn risk/ },
  'one theme': { over: { ai_themes: ['billing'] }, says: /Themes billing Churn risk/ },
  'two themes': { over: { ai_themes: ['billing', 'app'] }, says: /Themes billing, app Churn risk/ },
  'no sentiment': { over: { ai_sentiment: null }, says: /Sentiment Unknown/ },
  'no comment': { over: { comment: null }, from: { provider: null }, says: /comment/i },
};
for (const [what, { over = {}, from, says }] of Object.entries(cases)) {
  test(`the analysis of a response with ${what} says so`, () => {
    assert.match(shown(over, from), says);
  });
}

test('a response that was not read says whether it will be', () => {
  const [waits, never] = [true, false].map((analyzed) => shown({}, { provider: null, analyzed }));
  assert.notEqual(waits, never);
  assert.doesNotMatch(`${waits}${never}`, /Sentiment/);
});
