import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { writeTextFile } from '../../../src/lib/cli/files.ts';

const folder = mkdtempSync(join(tmpdir(), 'write-file-'));
after(() => rmSync(folder, { recursive: true }));

test('a file is written with the folders on the way to it, and over one that is there', () => {
  const path = join(folder, 'new', 'deeper', 'file.txt');
  for (const text of ['first', 'second']) {
    writeTextFile(path, text);
    assert.equal(readFileSync(path, 'utf8'), text);
  }
});

test('a file in the place of a folder on the way is named with the reason', () => {
  writeFileSync(join(folder, 'taken'), '');
  assert.throws(() => writeTextFile(join(folder, 'taken', 'file.txt'), ''), {
    message: `${join(folder, 'taken', 'file.txt')} cannot be written: a part of its path is a file`,
  });
});
