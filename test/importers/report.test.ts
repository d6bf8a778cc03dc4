import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countUnderstood,
  type Export,
  noneImported,
  readExport,
  scored,
  zeroFileCounts,
} from '../../src/importers/import.ts';
import { ImportPage } from '../../src/importers/import-page.tsx';
import type { Import, ImportFile } from '../../src/importers/queries.ts';
import { verdict } from '../../src/importers/report.ts';
import { delighted, type FileKind, planFile } from '../../src/importers/rows.ts';
import { emptyForm } from '../../src/web/app/forms.tsx';

const rules = { type: 'nps', zone: 'UTC', now: Date.parse('2026-05-01T00:00:00Z') } as const;

function exportOf(header: string[], rows: readonly string[][], as?: FileKind): Export {
  const plan = planFile(delighted, { header, line: 1, as });
  const read = async function* () {
    for (const [place, cells] of rows.entries()) yield { line: place + 2, cells };
  };
  return { name: 'a.csv', plan, rows: read } as Export;
}

async function counted(opened: Export, file = zeroFileCounts()) {
  const kinds: string[] = [];
  for await (const row of readExport(opened, rules, file)) kinds.push(row.kind);
  return { file, kinds };
}

const at = '2026-04-01';
const responses = exportOf(
  ['Score', 'Date', 'Type', 'Plan', ' '],
  [
    ['10', at],
    ['9', at],
    ['8', at],
    ['3', at],
    ['', at],
    ['', at],
    ['4', at, 'CSAT'],
    ['5', at, 'CES'],
    ['1', at, 'CSAT'],
    ...Array.from({ length: 22 }, () => ['eleven', at]),
  ],
);

test('every row is counted and the first twenty invalid ones listed', async () => {
  const { file, kinds } = await counted(responses);
  assert.deepEqual(kinds, Array(4).fill('response'));
  const { shown, ...numbers } = file;
  assert.deepEqual(numbers, {
    rows: 31,
    responses: { promoters: 2, passives: 1, detractors: 1 },
    months: { '2026-04': { promoters: 2, passives: 1, detractors: 1, score_sum: 30 } },
    people: 0,
    unsubscribed: 0,
    bounced: 0,
    passed: { unanswered: 2, 'other type': 3 },
    otherTypes: ['CSAT', 'CES'],
    unclear: 22,
  });
  assert.equal(shown.length, 20);
  assert.deepEqual(shown[0], {
    line: 11,
    column: 'Score',
    complaint: '"eleven" is not a score from 0 to 10',
  });
  assert.equal(countUnderstood(file), 4);
});

test('file has at most a million rows', async () => {
  const file = { ...zeroFileCounts(), rows: 999_998 };
  const { plan } = responses;
  const rows = async function* () {
    for (const line of [999_999, 1_000_000, 1_000_001]) yield { line, cells: ['', at] };
  };
  await assert.rejects(counted({ name: 'a.csv', plan, rows }, file), {
    message: /line 1000001: .* at most 1000000 rows/,
  });
});

const tally = (promoters: number, passives: number, detractors: number) =>
  scored({ promoters, passives, detractors });

const agreements: [
  what: string,
  after: ReturnType<typeof tally>,
  imported: number,
  said: string,
][] = [
  ['the same', tally(2, 1, 1), 4, 'All imported: file and survey match.'],
  ['more', tally(3, 1, 1), 5, 'All imported: the survey has 1 more from elsewhere.'],
  ['fewer', tally(1, 0, 1), 2, 'File and survey differ. Missing in the survey: 2 responses.'],
  [
    'as many others',
    tally(1, 2, 1),
    4,
    'File and survey differ. Missing in the survey: 0 responses.',
  ],
  [
    'one meanwhile',
    tally(2, 1, 1),
    3,
    'During the import, 1 response arrived: the survey now has 4.',
  ],
  [
    'one deleted',
    tally(2, 1, 1),
    5,
    'During the import, 1 response disappeared: the survey now has 4.',
  ],
];
test('verdict explains that responses of erased people were left out', () => {
  const imported = { ...noneImported, responses: 3, erased: 1 };
  assert.equal(
    verdict({ inFile: tally(2, 1, 1), before: tally(0, 0, 0), after: tally(1, 1, 1), imported }),
    '1 was left out, because it belongs to an erased person.',
  );
});

for (const [what, after, responses, said] of agreements) {
  test(`verdict for a survey that has ${what}: ${said}`, () => {
    const imported = { ...noneImported, responses };
    assert.equal(
      verdict({ inFile: tally(2, 1, 1), before: tally(0, 0, 0), after, imported }),
      said,
    );
  });
}

for (const [erased, results] of [
  [1, ['2 missing', '1 missing', '1 missing']],
  [2, ['2 left out', '1 left out', '1 left out']],
] as const) {
  test(`months with fewer responses are ${results[0]} when ${erased} of 2 rows were erased`, () => {
    const of = (promoters: number) => ({ promoters, passives: 0, detractors: 0, score_sum: 0 });
    const months = { '2026-10': of(2), '2026-11': of(3) };
    const row = {
      status: 'finished',
      survey_id: 'x',
      type: 'nps',
      after: { '2026-10': of(1), '2026-11': of(2) },
      created_at: new Date(),
    } as unknown as Import;
    const file = {
      name: 'a.csv',
      plan: { kind: 'responses', columns: [] },
      counts: { ...zeroFileCounts(), months },
      imported: { ...noneImported, responses: 3, erased },
    } as unknown as ImportFile;
    const paths = { here: '/', list: '/', surveys: '/' };
    const html = String(ImportPage({ row, files: [file], form: emptyForm(), ...paths }));
    assert.deepEqual(html.match(/\d (missing|left out)(?=<)/g), results);
  });
}
