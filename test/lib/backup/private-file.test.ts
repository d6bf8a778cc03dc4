import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Refusal } from '../../../src/errors.ts';
import { writePrivateFile } from '../../../src/lib/backup/private-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'askback-'));
after(() => rmSync(folder, { recursive: true }));
const ended = (out: { end: (text: string, done: () => void) => void }, text: string) =>
  new Promise<void>((done) => out.end(text, done));

test('a private file gets its name and mode 600 when it is complete', async () => {
  const path = join(folder, 'whole');
  await writePrivateFile(path, async (out) => {
    assert.equal(existsSync(path), false);
    await ended(out, 'all of it');
  });
  assert.equal(readFileSync(path, 'utf8'), 'all of it');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['whole']);
});

test('a private file that fails leaves the old file untouched', async () => {
  const path = join(folder, 'whole');
  const failing = writePrivateFile(path, async (out) => {
    await new Promise((done) => out.write('a part', done));
    throw new Error('a fault');
  });
  await assert.rejects(failing, { message: 'a fault' });
  assert.equal(readFileSync(path, 'utf8'), 'all of it');
  assert.deepEqual(readdirSync(folder), ['whole']);
});

const [missing, inFile, long] = ['missing/file', 'whole/file', 'x'.repeat(250)];
const complaints: [name: string, reason: string][] = [
  [missing, 'the folder does not exist'],
  [inFile, 'a part of its path is a file'],
  [long, `ENAMETOOLONG: name too long, open '${join(folder, long)}'`],
];

for (const [name, reason] of complaints) {
  test(`a private file that cannot be created says: ${reason.slice(0, 12)}…`, async () => {
    const path = join(folder, name);
    await assert.rejects(
      writePrivateFile(path, () => assert.fail('there is nothing to write to')),
      (error: unknown) =>
        error instanceof Refusal && error.message === `${path} cannot be written: ${reason}`,
    );
  });
}
