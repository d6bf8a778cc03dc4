import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBuiltinAnalyst } from '../../src/summaries/analyst.ts';
import { readComment } from '../../src/summaries/builtin.ts';
import { vocabulary } from '../../src/summaries/themes.ts';
import { categoryOf } from '../../src/survey-types.ts';

const analyst = createBuiltinAnalyst(readComment);

async function analyze(comment: string, score: number, language = 'en') {
  const answer = await analyst.analyze({
    orgId: 'acme',
    comment,
    score,
    type: 'nps',
    category: categoryOf('nps', score),
    language,
    themes: vocabulary([]),
  });
  assert.ok(answer.ok);
  return answer.value;
}

test('reads an angry detractor', async () => {
  const { sentiment, themes, churn_risk, summary } = await analyze(
    'The app crashes all the time and it is terrible. We will cancel our subscription.',
    1,
  );
  assert.equal(sentiment, 'negative');
  assert.equal(churn_risk, 'high');
  assert.deepEqual(themes.slice(0, 2), ['mobile', 'reliability']);
  assert.equal(
    summary,
    'A detractor (score 1) writes in a negative tone about mobile, reliability, and billing and mentions leaving.',
  );
});

test('other languages have the sentiment of their score', async () => {
  const german = await analyze('Der Support ist leider sehr langsam', 2, 'de');
  assert.equal(german.sentiment, 'negative');
  assert.match(german.summary, /in another language. The score suggests negative/);
});

/** Comments of passives with their themes. Summaries name built-in themes only. */
const spoken: [comment: string, themes: string[], about: string][] = [
  ['Prices are too high for us.', ['price'], ' about price'],
  ['The return form is a maze in the parking garage.', ['return form', 'parking garage'], ''],
  ['The wide cupboard is nice and the bicycle is not.', ['wide cupboard'], ''],
  ['A bicycle and the new coffee machine are here.', ['coffee machine'], ''],
  ['The monthly report is what we like.', ['reporting'], ' about reporting'],
  [
    'The price, the design, the docs and the app.',
    ['price', 'design', 'documentation', 'mobile'],
    ' about price, design, and documentation',
  ],
  ['A bicycle and the New coffee machine are here.', ['coffee machine'], ''],
];
for (const [comment, themes, about] of spoken) {
  test(`finds ${themes.join(' and ')} in "${comment.slice(0, 30)}"`, async () => {
    const found = await analyze(comment, 7);
    assert.deepEqual(found.themes, themes);
    const [, said] = /writes in a \w+ tone(.*)\.$/.exec(found.summary) ?? [];
    assert.equal(said, about);
  });
}
