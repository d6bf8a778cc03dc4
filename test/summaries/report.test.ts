import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEnglish } from '../../src/summaries/builtin.ts';
import { hasOnlyNumbersOf, type ReportFacts, writeReport } from '../../src/summaries/summarize.ts';

const volume = (promoters: number, passives: number, detractors: number) => ({
  responses: promoters + passives + detractors,
  promoters,
  passives,
  detractors,
});
const theme = (name: string, mentions: number, before: number, detractors = 0) => ({
  theme: name,
  mentions,
  before,
  detractors,
});
const facts = (over: Partial<ReportFacts> = {}): ReportFacts => ({
  organization: 'Acme',
  period: { from: '2026-03-01', to: '2026-03-31' },
  now: volume(6, 2, 2),
  before: volume(4, 2, 2),
  themes: [],
  quotes: [],
  ...over,
});
const shares =
  '60% of the respondents are promoters, 20% passives and 20% detractors (6, 2 and 2).';

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
    writeReport(facts({ themes, quotes })),
    [
      'From 2026-03-01 to 2026-03-31, Acme received 10 answers, 25% more than the 8 of the period before. The Net Promoter Score was +40, up 15 points from +25.',
      shares,
      'People spoke most of price: 5 mentions, up from 3. Then came support (3, down from 4), design (2, as before), and speed (1, new). Detractors speak most of support (3 of its 3 mentions): that is where to look first.',
      'In their words:\n- “Lovely” (promoter)\n- “Slow” (detractor)',
    ].join('\n\n'),
  );
});

const headlines: [what: string, over: Partial<ReportFacts>, said: RegExp][] = [
  [
    'there are no answers',
    { now: volume(0, 0, 0) },
    /^From 2026-03-01 to 2026-03-31, Acme received no answers\.$/,
  ],
  [
    'there are answers for the first time',
    { before: volume(0, 0, 0) },
    /10 answers, with none in the period before to compare\. The Net Promoter Score was \+40\.\n/,
  ],
  [
    'as many answered',
    { before: volume(6, 2, 2) },
    /10 answers, as many as in the period before\. The Net Promoter Score was \+40, unchanged\.\n/,
  ],
  [
    'fewer answered',
    { before: volume(4, 16, 0) },
    /10 answers, 50% fewer than the 20 of the period before\. .* was \+40, up 20 points from \+20\./,
  ],
  [
    'a ninth more answered',
    { before: volume(9, 0, 0) },
    /10 answers, 11% more than the 9 of the period before\./,
  ],
  [
    'two thirds more answered',
    { before: volume(6, 0, 0) },
    /10 answers, 67% more than the 6 of the period before\./,
  ],
  ['one answered', { now: volume(1, 0, 0), before: volume(2, 0, 0) }, / 1 answer, 50% fewer /],
  [
    'the score fell by one',
    { now: volume(49, 1, 0), before: volume(99, 1, 0) },
    /\+98, down 1 point from \+99\./,
  ],
  [
    'one spoke of it',
    { themes: [theme('price', 1, 0, 1)] },
    /People spoke most of price: 1 mention, new\.$/,
  ],
  [
    'detractors speak of two themes alike',
    { themes: [theme('price', 4, 0, 2), theme('speed', 3, 0, 2)] },
    /Detractors speak most of price \(2 of its 4 mentions\)/,
  ],
  [
    'two detractors did',
    { themes: [theme('price', 2, 0, 2)] },
    /Detractors speak most of price \(2 of its 2 mentions\)/,
  ],
];
for (const [what, over, said] of headlines) {
  test(`the report of a period in which ${what}`, () =>
    assert.match(writeReport(facts(over)), said));
}

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
