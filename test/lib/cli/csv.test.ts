import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { field, readCsv, refuseBadLines } from '../../../src/lib/cli/csv.ts';

const read = async (text: string) =>
  (await readCsv(text)).records.map(({ line, fields }) => [line, fields]);

const spreadsheets: [why: string, text: string][] = [
  ['commas', 'E-Mail,Name\nann@a.test,"B, Ann"\n'],
  ['semicolons', 'E-Mail;Name\nann@a.test;B, Ann\n'],
  ['tabs', 'E-Mail\tName\nann@a.test\tB, Ann\n'],
  ['line ends of Windows', 'E-Mail;Name\r\nann@a.test;B, Ann\r\n'],
  ['line ends of old Macs', 'E-Mail;Name\rann@a.test;B, Ann\r'],
  ['a byte order mark', '\ufeffE-Mail;Name\nann@a.test;B, Ann\n'],
  ['a comma in a quoted header', '"E-Mail";"Name"\n"ann@a.test";"B, Ann"\n'],
  ['no line end at the end', 'E-Mail;Name\nann@a.test;B, Ann'],
  ['empty rows and columns at the end', 'E-Mail;Name;;\nann@a.test;B, Ann;;\n;;;\n\n'],
];
for (const [why, text] of spreadsheets) {
  test(`a CSV file with ${why} has the same records`, async () => {
    assert.deepEqual(
      (await read(text)).map(([line, fields]) => [line, (fields as { email: string }).email]),
      [[2, 'ann@a.test']],
    );
    assert.equal((await readCsv(text)).records[0]!.fields['name'], 'B, Ann');
    assert.deepEqual((await readCsv(text)).columns, [
      { name: 'E-Mail', key: 'email' },
      { name: 'Name', key: 'name' },
    ]);
  });
}

test('quoted headers do not affect the delimiter', async () => {
  assert.deepEqual(await read('"What, if, anything"; Plan\n1;2\n'), [
    [2, { whatifanything: '1', plan: '2' }],
  ]);
});

test('the first non-empty column counts', async () => {
  const { records } = await readCsv('mail,email\na@a.test,b@b.test\n  ,b@b.test\n');
  const found = records.map((record) => [
    field(record, 'email', 'mail'),
    field(record, 'mail', 'email'),
    field(record, 'phone'),
  ]);
  assert.deepEqual(found, [
    ['b@b.test', 'a@a.test', null],
    ['b@b.test', 'b@b.test', null],
  ]);
});

test('a quote inside an unquoted value is kept', async () => {
  assert.deepEqual(await read('name,size\nRobert "Bob" Smith,5"\n 6" , "B, Ann"\n'), [
    [2, { name: 'Robert "Bob" Smith', size: '5"' }],
    [3, { name: '6" ', size: 'B, Ann' }],
  ]);
});

test('empty cells after the last column are ignored', async () => {
  assert.deepEqual(await read('a,b\n1,2,, ,\n'), [[2, { a: '1', b: '2' }]]);
});

const refused: [why: string, text: string, complaint: RegExp][] = [
  ['too many values', 'a,b\n1,2\n1,2,3\n', /line 3: it has more values than the first row$/],
  ['a quote never closed', 'a,b\n1,"2\n', /line 2: a quote is never closed$/],
  ['text after a quote', 'a,b\n"1"x,2\n', /line 2: there is text after a quoted value/],
  [
    'an open quote before others',
    'a,b\n"1,2\n3,4\n"5",6\n',
    /line 4: there is text after a quoted value/,
  ],
  ['two columns of one name', 'Plan,email,plan\n1,2,3\n', /line 1: the columns "Plan" and "plan"/],
  ['values in columns without names', 'a,,\n1,,\n1,2,3\n', /line 3: column 2 has a value/],
  ['a value in a column without a name', 'a,\n1,\n1,2\n', /line 3: column 2 has a value/],
];
for (const [why, text, complaint] of refused) {
  test(`a CSV file with ${why} is refused by the number of its line`, async () => {
    await assert.rejects(readCsv(text), complaint);
  });
}

const badLines = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ line: n + 2, complaint: 'x' }));

for (const [count, shown, more] of [
  [1, 1, null],
  [20, 20, null],
  [21, 20, 'and 1 more'],
  [45, 20, 'and 25 more'],
] as const) {
  test(`of ${count} bad lines ${shown} are named${more ? `, ${more}` : ''}`, () => {
    const lines = badLines(shown).map(({ line }) => `line ${line}: x`);
    const said = ['these lines are invalid:', ...lines, ...(more ? [more] : [])].join('\n  ');
    assert.throws(() => refuseBadLines(badLines(count)), {
      message: `nothing was done, because ${said}`,
    });
  });
}

test('any values survive a round trip through CSV', async () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '"', ',', ';', '\t', '\n') });
  const filled = cell.map((text) => `x${text}`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(filled, filled), { minLength: 1 }),
      fc.constantFrom(',', ';', '\t'),
      fc.constantFrom('\n', '\r\n'),
      async (rows, delimiter, end) => {
        const quoted = (values: string[]) =>
          values.map((value) => `"${value.replaceAll('"', '""')}"`).join(delimiter);
        const text = [['one', 'two'], ...rows].map(quoted).join(end);
        assert.deepEqual(
          (await readCsv(text)).records.map(({ fields }) => [fields['one'], fields['two']]),
          rows,
        );
      },
    ),
  );
});
