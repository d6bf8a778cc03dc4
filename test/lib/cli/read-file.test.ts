import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readCsv } from '../../../src/lib/cli/csv.ts';
import { decode } from '../../../src/lib/cli/encoding.ts';
import { readTable } from '../../../src/lib/cli/files.ts';
import { makeZip, workbookParts } from '../../support/make/workbook.ts';

const folder = mkdtempSync(join(tmpdir(), 'read-file-'));
after(() => rmSync(folder, { recursive: true }));

const encoded: [encoding: string, bytes: Buffer][] = [
  ['UTF-8', Buffer.from('name\nZoë €\n')],
  ['UTF-8', Buffer.from('\ufeffname\nZoë €\n')],
  ['UTF-16', Buffer.from('\ufeffname\nZoë €\n', 'utf16le')],
  ['UTF-16', Buffer.from('name\nZoë €\n', 'utf16le')],
  ['UTF-16', Buffer.from('\ufeffname\nZoë €\n', 'utf16le').swap16()],
  ['UTF-16', Buffer.from('name\nZoë €\n', 'utf16le').swap16()],
  ['Windows-1252', Buffer.from('name\nZo\xeb \x80\n', 'latin1')],
];
for (const [expected, bytes] of encoded) {
  test(`a file that begins with ${bytes.subarray(0, 4).toString('hex')} is read as ${expected}`, async () => {
    const { text, encoding } = decode(bytes);
    assert.equal(encoding, expected);
    assert.equal((await readCsv(text)).records[0]!.fields['name'], 'Zoë €');
  });
}

test('a file of one byte is not read as UTF-16', () => {
  for (const bytes of [Buffer.from('a\0'), Buffer.from('\0a')]) {
    assert.deepEqual(decode(bytes), { text: 'a', encoding: 'UTF-16' });
  }
  assert.throws(() => decode(Buffer.from('\0')), /it is not text in UTF-8/);
});

test('a table is read from CSV or from a sheet of a workbook', async () => {
  const write = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const sheet = (name: string) => ({ name, rows: `<row><c><v>${name.length}</v></c></row>` });
  const book = (...names: string[]) => makeZip(workbookParts({ sheets: names.map(sheet) }));
  const one = write('one.xlsx', book('Only'));
  assert.equal((await readTable(one, undefined)).text, '4\n');
  const two = write('two.xlsx', book('First', 'Second'));
  assert.equal((await readTable(two, 'Second')).text, '6\n');
  await assert.rejects(readTable(two, undefined), /with --sheet: "First", "Second"$/);
  await assert.rejects(readTable(two, 'Third'), /no sheet of this name, only "First", "Second"$/);
  assert.equal((await readTable(write('a.csv', 'a,b\n'), undefined)).text, 'a,b\n');
});

test('workbooks and binary files are refused', () => {
  assert.throws(() => decode(Buffer.from('PK\u0003\u0004 and more')), /it is a workbook/);
  assert.throws(
    () => decode(Buffer.from('email\n\x81\x8d\n', 'latin1')),
    /it is not text in UTF-8/,
  );
  assert.throws(() => decode(Buffer.from('email\n\0\n')), /it is not text in UTF-8/);
});
