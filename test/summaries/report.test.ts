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

test('a report says how many answered, how they are split, what they spoke of and what they said', () => {
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
      'From 2026-03-01 to 2026-03-31, Acme received 10 answers, 25% more than the 8 of the period before.',
      `Net Promoter Score: +40 (margin of error −12.6 to +74.1, 10 answers), no clear change from +25. ${shares}`,
      'People spoke most of price: 5 mentions, up from 3. Then came support (3, down from 4), design (2, as before), and speed (1, new). Detractors speak most of support (3 of its 3 mentions): that is where to look first.',
      'In their words:\n- “Lovely” (promoter)\n- “Slow” (detractor)',
    ].join('\n\n'),
  );
});

type Wish = { now?: Counts; before?: Counts };
const headlines: [what: string, wish: Wish, said: RegExp][] = [
  [
    'there are no answers',
    { now: none },
    /^From 2026-03-01 to 2026-03-31, Acme received no answers\.$/,
  ],
  [
    'there are answers for the first time',
    { before: none },
    /10 answers, with none in the period before to compare\.\n\n.* 10 answers\), none in the period before to compare with\. /,
  ],
  [
    'as many answered',
    { before: counts(6, 2, 2) },
    /10 answers, as many as in the period before\.\n\n.* unchanged from \+40\. /,
  ],
  [
    'fewer answered',
    { before: counts(4, 16, 0) },
    /10 answers, 50% fewer than the 20 of the period before\./,
  ],
  [
    'a ninth more answered',
    { before: counts(9, 0, 0) },
    /10 answers, 11% more than the 9 of the period before\./,
  ],
  [
    'two thirds more answered',
    { before: counts(6, 0, 0) },
    /10 answers, 67% more than the 6 of the period before\./,
  ],
  ['one answered', { now: counts(1, 0, 0), before: counts(2, 0, 0) }, / 1 answer, 50% fewer /],
  [
    'the score rose',
    { now: counts(60, 20, 20), before: counts(40, 30, 30) },
    /\+40 \(margin of error \+23\.4 to \+54\.3, 100 answers\), up 30 points from \+10\. /,
  ],
  [
    'the score fell',
    { now: counts(40, 30, 30), before: counts(60, 20, 20) },
    /, down 30 points from \+40\. /,
  ],
];
for (const [what, wish, said] of headlines) {
  test(`the report of a period in which ${what}`, () =>
    assert.match(writeReport(facts(wish)), said));
}

const subjects: [what: string, themes: ReportFacts['themes'], said: RegExp][] = [
  ['one spoke of it', [theme('price', 1, 0, 1)], /People spoke most of price: 1 mention, new\.$/],
  [
    'detractors speak of two themes alike',
    [theme('price', 4, 0, 2), theme('speed', 3, 0, 2)],
    /Detractors speak most of price \(2 of its 4 mentions\)/,
  ],
  [
    'two detractors did',
    [theme('price', 2, 0, 2)],
    /Detractors speak most of price \(2 of its 2 mentions\)/,
  ],
];
for (const [what, themes, said] of subjects) {
  test(`the report of a period in which ${what}`, () =>
    assert.match(writeReport(facts({}, { themes })), said));
}

test('a report has a score of each kind, and adds up none', () => {
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

test('a text has no number that the facts do not have, however thousands are written', () => {
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
  test(`"${text}" ${english ? 'may' : 'may not'} be read as English`, () =>
    assert.equal(isEnglish(text), english));
}
