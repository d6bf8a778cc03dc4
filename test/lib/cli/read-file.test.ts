import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readBytes } from '../../../src/lib/cli/read-file.ts';

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
