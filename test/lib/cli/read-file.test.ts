import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readCsv } from '../../../src/lib/cli/csv.ts';
import { decode } from '../../../src/lib/cli/files.ts';

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

test('workbooks and binary files are refused', () => {
  assert.throws(() => decode(Buffer.from('PK\u0003\u0004 and more')), /it is a workbook/);
  assert.throws(
    () => decode(Buffer.from('email\n\x81\x8d\n', 'latin1')),
    /it is not text in UTF-8/,
  );
  assert.throws(() => decode(Buffer.from('email\n\0\n')), /it is not text in UTF-8/);
});
