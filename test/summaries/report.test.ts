import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf } from '../../src/summaries/blocks.ts';
import { isEnglish } from '../../src/summaries/builtin.ts';
import { hasOnlyNumbersOf, type ReportFacts, writeReport } from '../../src/summaries/summarize.ts';

const counts = (promoters: number, passives: number, detractors: number) => ({
  responses: promoters + passives + detractors,
  promoters,
  passives,
  detractors,
  score_sum: 0,
  variance: null,
});
type Counts = ReturnType<typeof counts>;
const customers = { type: 'nps', audience: 'customer' } as const;
const none = counts(0, 0, 0);
const theme = (name: string, mentions: number, before: number, detractors = 0) => ({
  theme: name,
  mentions,
  before,
  detractors,
});
const facts = (
  { now = counts(6, 2, 2), before = counts(4, 2, 2) }: { now?: Counts; before?: Counts } = {},
  over: Partial<ReportFacts> = {},
): ReportFacts => ({
  organization: 'Acme',
  period: { from: '2026-03-01', to: '2026-03-31' },
  responses: { now: now.responses, before: before.responses },
  blocks: blocksOf([{ ...customers, now, earlier: before }]),
  categories: now,
  themes: [],
  quotes: [],
  ...over,
});
const shares = '60% are promoters, 20% passives and 20% detractors (6, 2 and 2).';

test('a report contains volume, scores, themes and quotes', () => {
  const themes = [
    theme('price', 5, 3, 2),
    theme('support', 3, 4, 3),
    theme('design', 2, 2),
    theme('speed', 1, 0),
  ];
  const quotes = [
    { category: 'promoter', text: 'Lovely' },
    { category: 'detractor', text: 'Slow' },
  ] as const;
  assert.equal(
    writeReport(facts({}, { themes, quotes })),
    [
      'From 2026-03-01 to 2026-03-31, Acme received 10 responses, 25% more than the 8 of the previous period.',
      `Net Promoter Score: +40 (margin of error −12.6 to +74.1, 10 responses), no clear change from +25. ${shares}`,
      'Top themes: price (5, up from 3), support (3, down from 4), design (2, unchanged), speed (1, new). Detractors mention support most (3 of 3 mentions): look there first.',
      'In their words:\n- “Lovely” (promoter)\n- “Slow” (detractor)',
    ].join('\n\n'),
  );
});

type PeriodCounts = { now?: Counts; before?: Counts };
const headlines: [what: string, counts: PeriodCounts, expected: RegExp][] = [
  ['no responses', { now: none }, /^From 2026-03-01 to 2026-03-31, Acme received no responses\.$/],
  [
    'first responses',
    { before: none },
    /10 responses, with none in the previous period\.\n\n.* 10 responses\), no earlier score to compare\. /,
  ],
  [
    'equal numbers',
    { before: counts(6, 2, 2) },
    /10 responses, as many as in the previous period\.\n\n.* unchanged from \+40\. /,
  ],
  [
    'fewer responses',
    { before: counts(4, 16, 0) },
    /10 responses, 50% fewer than the 20 of the previous period\./,
  ],
  [
    'a ninth more responses',
    { before: counts(9, 0, 0) },
    /10 responses, 11% more than the 9 of the previous period\./,
  ],
  [
    'two thirds more responses',
    { before: counts(6, 0, 0) },
    /10 responses, 67% more than the 6 of the previous period\./,
  ],
  ['one response', { now: counts(1, 0, 0), before: counts(2, 0, 0) }, / 1 response, 50% fewer /],
  [
    'a better score',
    { now: counts(60, 20, 20), before: counts(40, 30, 30) },
    /\+40 \(margin of error \+23\.4 to \+54\.3, 100 responses\), up 30 points from \+10\. /,
  ],
  [
    'a worse score',
    { now: counts(40, 30, 30), before: counts(60, 20, 20) },
    /, down 30 points from \+40\. /,
  ],
];
for (const [what, counts, expected] of headlines) {
  test(`a report describes ${what}`, () => assert.match(writeReport(facts(counts)), expected));
}

const themeTexts: [what: string, themes: ReportFacts['themes'], expected: RegExp][] = [
  ['one mention', [theme('price', 1, 0, 1)], /Top themes: price \(1, new\)\.$/],
  [
    'two equal detractor themes',
    [theme('price', 4, 0, 2), theme('speed', 3, 0, 2)],
    /Detractors mention price most \(2 of 4 mentions\)/,
  ],
  [
    'two detractors',
    [theme('price', 2, 0, 2)],
    /Detractors mention price most \(2 of 2 mentions\)/,
  ],
];
for (const [what, themes, expected] of themeTexts) {
  test(`a report describes ${what}`, () =>
    assert.match(writeReport(facts({}, { themes })), expected));
}

test('a report has one score per scale and audience', () => {
  const stars = { ...counts(2, 0, 0), score_sum: 9, variance: 0.5 };
  const blocks = blocksOf([
    { type: 'star5', audience: 'customer', now: stars, earlier: none },
    { type: 'nps', audience: 'employee', now: counts(0, 0, 2), earlier: none },
    { type: 'csat', audience: 'customer', now: none, earlier: counts(1, 0, 0) },
    { ...customers, now: counts(6, 2, 2), earlier: none },
  ]);
  const [, ...scores] = writeReport(facts({}, { blocks })).split('\n\n');
  assert.deepEqual(
    scores.map((score) => score.replace(/ \(.*/, '')),
    [
      'Net Promoter Score, customers: +40',
      'Stars of 5: 4.50',
      'Net Promoter Score, employees: −100',
    ],
  );
});

test('detects numbers that are not in the facts', () => {
  for (const text of ['', 'none', '1,234 answers', '1234', 'up 4.5 points'])
    assert.ok(hasOnlyNumbersOf(text, '1234 and 4.5'), text);
  for (const text of ['4', '5', '12,34', '1234.0'])
    assert.ok(!hasOnlyNumbersOf(text, '1234 and 4.5'), text);
});

const texts: [text: string, english: boolean][] = [
  ['Great!', true],
  ['Schnell', true],
  ['four words say little', true],
  ['this has five small words', true],
  ['wirklich schnell geliefert worden gestern', false],
  ['Das ist ein sehr gutes Produkt', false],
  ['le support est très bien mais lent', false],
  ['the support is nicht gut', true],
  ['the support ist nicht gut', false],
  ['the support nicht quick lately', true],
  ['THE TEAM IS QUICK AND KIND', true],
  ['SCHNELL UND DAS TEAM HILFT GERN', false],
  ['素晴らしい', false],
  ['ok да', true],
  ['ok дах', false],
  ['素晴らしい app and the team', true],
  ['👍', false],
  ['', false],
  ['12345', false],
];
for (const [text, english] of texts) {
  test(`"${text}" is ${english ? '' : 'not '}read as English`, () =>
    assert.equal(isEnglish(text), english));
}
