import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { complaintOfFolder } from '../../../src/lib/embedded-postgres/foresee-folder.ts';

const home = mkdtempSync(join(tmpdir(), 'askback-foresee-'));
after(() => rmSync(home, { recursive: true }));
const file = join(home, 'file');
writeFileSync(file, '');

const [aFile, aPart, noFolders] = [
  'cannot be made, because something else has its name',
  'cannot be made, because a part of its path is a file',
  'cannot be made, because the file system there takes no folders',
];
for (const [path, complaint] of [
  [home, undefined],
  [join(home, 'new'), undefined],
  [join(home, 'new', 'deeper'), undefined],
  [file, aFile],
  [join(file, 'data'), aPart],
  [join(file, 'data', 'deeper'), aPart],
  ['/proc/version', aFile],
  ['/proc/version/data', aPart],
  ['/proc/data', noFolders],
  ['/proc/data/deeper', noFolders],
  ['/sys/data', noFolders],
] as const) {
  const named = path.replace(home, 'HOME');
  test(`of a data folder ${named} is foreseen: ${complaint ?? 'nothing'}`, () => {
    const expected = complaint && `the data folder ${path} ${complaint}`;
    assert.equal(complaintOfFolder(path), expected);
    assert.equal(existsSync(join(home, 'new')), false);
  });
}
