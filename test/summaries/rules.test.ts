import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Category } from '../../src/scores.ts';
import {
  type ChurnRisk,
  churnRiskOf,
  type Sentiment,
  sentimentOf,
  speaksOfLeaving,
  tidyText,
  tidyThemes,
  toneOf,
} from '../../src/summaries/rules.ts';
import { themesOf, vocabulary } from '../../src/summaries/themes.ts';

const tones: [sentences: number[], category: Category, tone: Sentiment][] = [
  [[], 'passive', 'neutral'],
  [[0.1, -0.1], 'passive', 'neutral'],
  [[0.6, 0], 'passive', 'positive'],
  [[-0.4], 'passive', 'negative'],
  [[0.5, -0.5], 'passive', 'mixed'],
  [[0.2, -0.2], 'passive', 'mixed'],
  [[0, -0.6, 0.2], 'detractor', 'negative'],
  [[0.4], 'detractor', 'neutral'],
  [[0.5, -0.2], 'detractor', 'mixed'],
  [[-0.4, 0.2], 'promoter', 'positive'],
  [[-0.5, 0.2], 'promoter', 'mixed'],
];
for (const [sentences, category, tone] of tones) {
  test(`a ${category}'s sentences of ${sentences.join(' and ') || 'nothing'} are ${tone}`, () =>
    assert.equal(toneOf(sentences, category), tone));
}

const sentiments: [tone: Sentiment, category: Category, sentiment: Sentiment][] = [
  ['positive', 'promoter', 'positive'],
  ['positive', 'detractor', 'mixed'],
  ['negative', 'detractor', 'negative'],
  ['negative', 'promoter', 'mixed'],
  ['neutral', 'detractor', 'negative'],
  ['neutral', 'passive', 'neutral'],
  ['positive', 'passive', 'positive'],
  ['mixed', 'promoter', 'mixed'],
];
for (const [tone, category, sentiment] of sentiments) {
  test(`${tone} words of a ${category} are ${sentiment}`, () =>
    assert.equal(sentimentOf(tone, category), sentiment));
}

const risks: [category: Category, sentiment: Sentiment, leaving: boolean, risk: ChurnRisk][] = [
  ['promoter', 'positive', false, 'low'],
  ['promoter', 'positive', true, 'medium'],
  ['passive', 'negative', false, 'medium'],
  ['passive', 'negative', true, 'high'],
  ['detractor', 'mixed', false, 'medium'],
  ['detractor', 'negative', false, 'high'],
];
for (const [category, sentiment, leaving, risk] of risks) {
  test(`a ${sentiment} ${category}${leaving ? ' who speaks of leaving' : ''}: ${risk} risk`, () =>
    assert.equal(churnRiskOf(category, sentiment, leaving), risk));
}

test('leaving is recognized in several words', () => {
  for (const words of ['We will cancel', 'switching to Acme', 'I want a refund', 'a competitor']) {
    assert.ok(speaksOfLeaving(words), words);
  }
  assert.ok(!speaksOfLeaving('We would never leave'));
});

test('themes come in the order in which a comment comes to them', () => {
  const comment = 'It crashes daily, and invoices are wrong. Support was kind.';
  assert.deepEqual(themesOf(comment, vocabulary([])), ['reliability', 'billing', 'support']);
});

test('an organization redefines a theme by its name', () => {
  const own = vocabulary([{ name: 'Support', words: ['concierge'] }]);
  assert.deepEqual(themesOf('The concierge is great, support not', own), ['support']);
  assert.deepEqual(themesOf('support', own), []);
});

test('a word inside another word is no theme', () => {
  assert.deepEqual(themesOf('a snapshot of happiness', vocabulary([])), []);
});

test('what an analyst gives is cut to what we keep', () => {
  const long = 'x'.repeat(41);
  assert.deepEqual(tidyThemes([' Price\u0000 ', 'price', long, '', 'a', 'b', 'c', 'd', 'e']), [
    'price',
    'a',
    'b',
    'c',
    'd',
  ]);
  assert.equal(tidyText('a\u0007b  c', 10), 'a b c');
  assert.equal(tidyText('abcdef', 4), 'abc…');
});
