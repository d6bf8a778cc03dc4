import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  analysisWaitMs,
  type ChurnRisk,
  churnRiskOf,
  daysOf,
  hasReservation,
  mentionsLeaving,
  type Sentiment,
  scoreAnalysis,
  sentimentOf,
  tidyText,
  tidyThemes,
  toneOf,
} from '../../src/summaries/rules.ts';
import { themesOf, vocabulary } from '../../src/summaries/themes.ts';
import type { Category } from '../../src/survey-types.ts';

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
  test(`sentences ${sentences.join(', ') || 'none'} of a ${category} are ${tone}`, () =>
    assert.equal(toneOf(sentences, category), tone));
}

const sentiments: [tone: Sentiment | 'reserved', category: Category, sentiment: Sentiment][] = [
  ['reserved', 'promoter', 'positive'],
  ['reserved', 'passive', 'mixed'],
  ['reserved', 'detractor', 'mixed'],
  ['positive', 'promoter', 'positive'],
  ['positive', 'detractor', 'mixed'],
  ['negative', 'detractor', 'negative'],
  ['negative', 'promoter', 'mixed'],
  ['neutral', 'detractor', 'negative'],
  ['neutral', 'passive', 'neutral'],
  ['positive', 'passive', 'positive'],
  ['mixed', 'promoter', 'mixed'],
  ['mixed', 'detractor', 'mixed'],
  ['neutral', 'promoter', 'positive'],
  ['negative', 'passive', 'negative'],
];
for (const [tone, category, sentiment] of sentiments) {
  test(`${tone} words of a ${category} are ${sentiment}`, () =>
    assert.equal(sentimentOf(tone, category), sentiment));
}

const all = ['positive', 'neutral', 'mixed', 'negative'] as const;
const risks: [
  category: Category,
  risks: Record<Sentiment, ChurnRisk>,
  leaving: Record<Sentiment, ChurnRisk>,
][] = [
  [
    'promoter',
    { positive: 'low', neutral: 'low', mixed: 'low', negative: 'medium' },
    { positive: 'medium', neutral: 'medium', mixed: 'medium', negative: 'high' },
  ],
  [
    'passive',
    { positive: 'low', neutral: 'low', mixed: 'medium', negative: 'medium' },
    { positive: 'medium', neutral: 'medium', mixed: 'high', negative: 'high' },
  ],
  [
    'detractor',
    { positive: 'medium', neutral: 'medium', mixed: 'medium', negative: 'high' },
    { positive: 'high', neutral: 'high', mixed: 'high', negative: 'high' },
  ],
];
for (const [category, risk, whenLeaving] of risks) {
  for (const sentiment of all) {
    test(`a ${sentiment} ${category} has ${risk[sentiment]} risk, ${whenLeaving[sentiment]} when leaving`, () => {
      assert.equal(churnRiskOf(category, sentiment, false), risk[sentiment]);
      assert.equal(churnRiskOf(category, sentiment, true), whenLeaving[sentiment]);
    });
  }
}

test('words against the score have a higher threshold', () => {
  for (const [edge, beyond] of [
    [0.15, 0.16],
    [-0.15, -0.16],
  ] as const) {
    assert.equal(toneOf([edge], 'passive'), 'neutral');
    assert.equal(toneOf([beyond], 'passive'), beyond > 0 ? 'positive' : 'negative');
  }
  assert.deepEqual(
    [toneOf([0.45], 'detractor'), toneOf([0.46], 'detractor')],
    ['neutral', 'positive'],
  );
  assert.deepEqual(
    [toneOf([-0.45], 'promoter'), toneOf([-0.46], 'promoter')],
    ['neutral', 'negative'],
  );
});

test('analyses are retried ten times with backoff', () => {
  const waits = Array.from({ length: 10 }, (_, tries) => analysisWaitMs(tries, 0));
  const minutes = [1, 2, 4, 8, 16, 32, 64, 128, 256].map((each) => each * 60_000);
  assert.deepEqual(waits, [...minutes, null]);
  assert.equal(analysisWaitMs(0, 90_000), 90_000);
  assert.equal(analysisWaitMs(0, 2 * 3_600_000), 3_600_000);
});

test('a comment that was not analyzed has the sentiment of its score', () => {
  assert.deepEqual(scoreAnalysis({ category: 'detractor', score: 3 }), {
    sentiment: 'negative',
    themes: [],
    churn_risk: 'high',
    summary:
      'A detractor (score 3) left a comment that was not analyzed. The score suggests negative feedback.',
  });
  const { sentiment, churn_risk } = scoreAnalysis({ category: 'passive', score: 7 });
  assert.deepEqual([sentiment, churn_risk], ['neutral', 'low']);
});

test('words of reservation are found as whole words, ignoring case', () => {
  for (const word of ['but', 'though', 'Although', 'however', 'EXCEPT', 'unfortunately'])
    assert.ok(hasReservation(`fine, ${word} slow`), word);
  assert.ok(!hasReservation('a butter button'));
});

test('the days of a period use the time zone and exclude the end', () => {
  const period = { start: new Date('2026-02-28T23:00:00Z'), end: new Date('2026-03-31T22:00:00Z') };
  assert.deepEqual(daysOf(period, 'Europe/Berlin'), {
    first_day: '2026-03-01',
    last_day: '2026-03-31',
  });
  assert.deepEqual(daysOf(period, 'UTC'), { first_day: '2026-02-28', last_day: '2026-03-31' });
});

test('recognizes mentions of leaving', () => {
  for (const words of ['We will cancel', 'switching to Acme', 'I want a refund', 'a competitor']) {
    assert.ok(mentionsLeaving(words), words);
  }
  assert.ok(!mentionsLeaving('We would never leave'));
  const more = 'The report of the month is on time and reads well. '.repeat(3);
  assert.ok(!mentionsLeaving(`We will not cancel. ${more}`), 'at the beginning of a long comment');
  assert.ok(!mentionsLeaving(`${more}We will not cancel.`), 'at its end');
  assert.ok(
    mentionsLeaving(`It is not ${more}We will cancel. ${more}`),
    'denied is something else',
  );
});

test('themes match common English endings', () => {
  const themes = [{ name: 'x', words: ['fee', 'charge', 'crash', '品質'] }];
  for (const word of [
    'fee',
    'fees',
    'charge',
    'charges',
    'charged',
    'crash',
    'crashes',
    'crashed',
    'crashing',
    '高品質の',
  ])
    assert.deepEqual(themesOf(word, themes), ['x'], word);
  for (const word of ['feed', 'feeing', 'charging', 'crasher', 'crashe'])
    assert.deepEqual(themesOf(word, themes), [], word);
  assert.deepEqual(
    themesOf('[name] [email] [phone]', [{ name: 'x', words: ['name', 'email', 'phone'] }]),
    [],
  );
});

test('themes are in the order of the comment', () => {
  const comment = 'It crashes daily, and invoices are wrong. Support was kind.';
  assert.deepEqual(themesOf(comment, vocabulary([])), ['reliability', 'billing', 'support']);
  const again = `${comment} And it crashed, a crash!`;
  assert.deepEqual(themesOf(again, vocabulary([])), ['reliability', 'billing', 'support']);
});

test('an organization can redefine a theme by name', () => {
  const own = vocabulary([{ name: 'Support', words: ['concierge'] }]);
  assert.deepEqual(themesOf('The concierge is great, support not', own), ['support']);
  assert.deepEqual(themesOf('support', own), []);
});

test('a word inside another word does not match', () => {
  assert.deepEqual(themesOf('a snapshot of happiness', vocabulary([])), []);
});

test('results of an analyst are cut to the limits', () => {
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
  assert.equal(tidyText('abcd', 4), 'abcd');
  assert.equal(tidyText('a\nb\tc ', 10), 'a\nb c');
  assert.equal(tidyText('ask [name] for it', 9), 'ask…');
  assert.deepEqual(tidyThemes(['x'.repeat(40), '?!', 'of [name]', 'a\u0007b  c']), [
    'x'.repeat(40),
    'a b c',
  ]);
});
