import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readCsv } from '../../../src/lib/cli/csv.ts';
import { decode, readBytes } from '../../../src/lib/cli/files.ts';

const folder = mkdtempSync(join(tmpdir(), 'read-file-'));
after(() => rmSync(folder, { recursive: true }));

test('a file of several pieces is read whole, in its order', async () => {
  const path = join(folder, 'numbers');
  const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, n) => `${n}\n`).join(''));
  writeFileSync(path, bytes);
  assert.ok(bytes.equals(await readBytes(path)));
});

test('a file of 256 MiB is read, and a larger one is refused', async () => {
  const path = join(folder, 'large'); // of nothing but holes: it takes no room on the disk
  writeFileSync(path, '');
  const largest = 256 * 1024 * 1024;
  truncateSync(path, largest);
  assert.equal((await readBytes(path)).length, largest);
  truncateSync(path, largest + 1);
  await assert.rejects(readBytes(path), {
    message: `${path} is larger than 256 MiB: cut it into several`,
  });
});

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
  test(`a file that begins with ${bytes.subarray(0, 4).toString('hex')} is read as ${expected}`, () => {
    const { text, encoding } = decode(bytes);
    assert.equal(encoding, expected);
    assert.equal(readCsv(text).records[0]!.fields['name'], 'Zoë €');
  });
}

test('the shortest file in UTF-16 is one letter, and a single NUL is no text', () => {
  for (const bytes of [Buffer.from('a\0'), Buffer.from('\0a')]) {
    assert.deepEqual(decode(bytes), { text: 'a', encoding: 'UTF-16' });
  }
  assert.throws(() => decode(Buffer.from('\0')), /it is not text in UTF-8/);
});

test('a file is judged by all of its first bytes', () => {
  const [utf8, western] = ['UTF-8', 'Windows-1252'] as const;
  for (const [bytes, encoding] of [
    [Buffer.from('Plan,email\n'), utf8],
    [Buffer.from('OK,email\n'), utf8],
    [Buffer.from('PK\n'), utf8],
    [Buffer.from('\xffa\n', 'latin1'), western],
    [Buffer.from('\xfea\n', 'latin1'), western],
    [Buffer.from('a\xfe\n', 'latin1'), western],
    [Buffer.from('\xd0\xcfa\n', 'latin1'), western],
  ] as const) {
    assert.equal(decode(bytes).encoding, encoding, bytes.toString('hex'));
  }
  const old = Buffer.from('\xd0\xcf\x11\xe0 and more', 'latin1');
  assert.throws(() => decode(old), /it is a workbook/);
});

test('a workbook, and what is no text, is refused', () => {
  assert.throws(() => decode(Buffer.from('PK\u0003\u0004 and more')), /it is a workbook/);
  assert.throws(
    () => decode(Buffer.from('email\n\x81\x8d\n', 'latin1')),
    /it is not text in UTF-8/,
  );
  assert.throws(() => decode(Buffer.from('email\n\0\n')), /it is not text in UTF-8/);
});
