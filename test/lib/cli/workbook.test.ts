import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWorkbook } from '../../../src/lib/cli/workbook.ts';
import { makeZip, workbookParts } from '../../support/make/workbook.ts';

const read = async (book: Parameters<typeof workbookParts>[0], over = {}) =>
  await readWorkbook(makeZip({ ...workbookParts(book), ...over }));

const textOf = async (rows: string, book = {}) =>
  (await read({ sheets: [{ name: 'One', rows }], ...book }))[0]!.pieces.join('');

for (const [what, cell, text] of [
  ['a number', '<c r="A1"><v>0.125</v></c>', '0.125'],
  ['a telephone number', '<c r="A1"><v>4.9171234567E11</v></c>', '491712345670'],
  ['a date', '<c r="A1" s="1"><v>45991</v></c>', '2025-11-30'],
  ['a date and time', '<c r="A1" s="2"><v>45991.375</v></c>', '2025-11-30 09:00:00'],
  ['a time', '<c r="A1" s="2"><v>0.5</v></c>', '12:00:00'],
  ['a number with letters in its format', '<c r="A1" s="3"><v>45991</v></c>', '45991'],
  ['a truth value', '<c r="A1" t="b"><v>1</v></c>', 'TRUE'],
  ['an error', '<c r="A1" t="e"><v>#N/A</v></c>', ''],
  ['a formula with text', '<c r="A1" t="str"><f>A2</f><v>Ann &amp; Bob</v></c>', 'Ann & Bob'],
  ['inline text', '<c r="A1" t="inlineStr"><is><t>Ann</t></is></c>', 'Ann'],
  ['shared text in parts', '<c r="A1" t="s"><v>0</v></c>', 'Anna Lena'],
  ['Japanese without its reading', '<c r="A1" t="s"><v>1</v></c>', '山田'],
  ['text with line breaks', '<c r="A1" t="s"><v>2</v></c>', 'one two'],
  ['text with quotes and commas', '<c r="A1" t="s"><v>3</v></c>', '"a ""b"", c"'],
  ['text that Postgres refuses', '<c r="A1" t="s"><v>4</v></c>', 'a\ufffdb\ufffd'],
  ['unknown shared text', '<c r="A1" t="s"><v>9</v></c>', ''],
] as const) {
  test(`reads ${what} of a workbook`, async () => {
    const strings = [
      '<r><t>Anna </t></r><r><rPr/><t xml:space="preserve">Lena</t></r>',
      '<t>山田</t><rPh sb="0"><t>ヤマダ</t></rPh>',
      '<t>one_x000D_\ntwo</t>',
      '<t>a "b", c</t>',
      '<t>a_x0000_b_xD800_</t>',
    ];
    const rows = `<row r="1">${cell}<c r="B1"><v>1</v></c></row>`;
    assert.equal(await textOf(rows, { strings }), `${text},1\n`);
  });
}

test('lines and columns of the CSV match the sheet', async () => {
  const rows = '<row r="2"><c r="B2"><v>1</v></c></row><row r="4"><c><v>2</v></c></row>';
  assert.equal(await textOf(rows), '\n,1\n\n2\n');
});

test('dates count from 1904 in workbooks of old Macs', async () => {
  const rows = '<row r="1"><c r="A1" s="1"><v>1</v></c></row>';
  assert.equal(await textOf(rows, { is1904: true }), '1904-01-02\n');
});

test('reads the visible sheets with rows', async () => {
  const row = (value: number) => `<row r="1"><c r="A1"><v>${value}</v></c></row>`;
  const sheets = [
    { name: 'Hidden', rows: row(1), hidden: true },
    { name: 'Cover', rows: '<row r="1"><c r="A1"/></row>' },
    { name: 'Kunden &amp; mehr', rows: row(3) },
    { name: 'Old', rows: row(4) },
  ];
  assert.deepEqual(await read({ sheets }), [
    { name: 'Kunden & mehr', pieces: ['3\n'] },
    { name: 'Old', pieces: ['4\n'] },
  ]);
});

test('reads the first 255 characters of a number format', async () => {
  const rows = '<row><c s="0"><v>1</v></c><c s="1"><v>1</v></c></row>';
  const format = (id: number, length: number) =>
    `<numFmt numFmtId="${id}" formatCode="${'0'.repeat(length)}d"/>`;
  const styles = `<a><numFmts>${format(164, 254)}${format(165, 255)}</numFmts><cellXfs><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></a>`;
  const parts = { ...workbookParts({ sheets: [{ name: 'One', rows }] }), 'xl/styles.xml': styles };
  const [{ pieces } = { pieces: [] }] = await readWorkbook(makeZip(parts));
  assert.deepEqual(pieces, ['1899-12-31,1\n']);
});

test('many cells with the same text take little time', async () => {
  const strings = [`<t>${'"'.repeat(32_767)}</t>`];
  const before = process.cpuUsage().user;
  const text = await textOf('<row><c t="s"><v>0</v></c></row>'.repeat(900), { strings });
  assert.equal(text.length, 900 * 65_537);
  const ms = (process.cpuUsage().user - before) / 1000;
  assert.ok(ms < 5000, `${ms} ms of the processor`);
});

const one = { sheets: [{ name: 'One', rows: '<row r="1"><c r="A1"><v>1</v></c></row>' }] };
const sheet = 'xl/worksheets/sheet1.xml';
const sheetsOf = (parts: readonly number[]) =>
  `<a><sheets>${parts.map((part) => `<sheet name="A" id="rId${part}"/>`).join('')}</sheets></a>`;
const mebibyte = 2 ** 20;
for (const [what, over, reason] of [
  ['an empty part', { 'xl/workbook.xml': '' }, /damaged/],
  [
    'a sheet that would unpack to a gigabyte',
    { [sheet]: { text: 'x', size: 2 ** 30 } },
    /too large/,
  ],
  [
    'sheets that would unpack the same part many times',
    { 'xl/workbook.xml': sheetsOf([1, 1, 1]), [sheet]: { text: 'x', size: 90 * mebibyte } },
    /too large/,
  ],
  ['too many sheets', { 'xl/workbook.xml': sheetsOf(Array(101).fill(1)) }, /too many sheets/],
  [
    'a row with too much text',
    {
      'xl/sharedStrings.xml': `<a><si><t>${'"'.repeat(32_767)}</t></si></a>`,
      [sheet]: `<a><row>${'<c t="s"><v>0</v></c>'.repeat(16_384)}</row></a>`,
    },
    /sheets are too large/,
  ],
  ...['<b>', '<b a="', '<!--'].map(
    (start) =>
      [
        `a part with a long run without a tag after ${start}`,
        { [sheet]: `<a>${start}${'x'.repeat(mebibyte)}` },
        /too much text/,
      ] as const,
  ),
  [
    'text that is split by many tags',
    { 'xl/sharedStrings.xml': `<a><si>${'<t>abcdefgh</t>'.repeat(mebibyte / 8)}</si></a>` },
    /too much text/,
  ],
  [
    'a sheet that lies about its size',
    { [sheet]: { text: 'x'.repeat(99_999), size: 9 } },
    /too many bytes/,
  ],
  ['rows in the wrong order', { [sheet]: '<a><row r="2"/><row r="1"/></a>' }, /not in order/],
  [
    'a cell beyond the last column',
    { [sheet]: '<a><row r="1"><c r="ZZZ1"/></row></a>' },
    /too many columns/,
  ],
  [
    'a cell with more text than Excel allows',
    { [sheet]: `<a><row><c t="str"><v>a${' '.repeat(32_767)}b</v></c></row></a>` },
    /too much text/,
  ],
  ['broken XML', { [sheet]: '<a><row r="1"><c r="A1"' }, /./],
] as const) {
  test(`refuses ${what}`, async () => {
    await assert.rejects(read(one, over), reason);
  });
}

test('refuses a file that only begins like a workbook', async () => {
  await assert.rejects(readWorkbook(Buffer.from('PK\x03\x04 nothing')), /not an Excel workbook/);
  await assert.rejects(readWorkbook(makeZip({ 'a.txt': 'a' })), /not an Excel workbook/);
});
