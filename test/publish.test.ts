import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { differences, publish, sumsOf } from '../ops/build/publish.ts';

const home = mkdtempSync(join(tmpdir(), 'publish-'));
after(() => rmSync(home, { recursive: true }));
const of = { version: '1.2.3', seconds: 1_700_000_000 };

/** A folder as a build leaves it, with a word in the place of each large file. */
function built(name: string) {
  const folder = join(home, name);
  mkdirSync(join(folder, 'dist'), { recursive: true });
  for (const path of ['README.md', 'LICENSE', 'ops']) {
    cpSync(path, join(folder, path), { recursive: true });
  }
  for (const file of [
    'askback',
    'askback_1.2.3_amd64.deb',
    'askback-1.2.3.cdx.json',
    'askback-client-1.2.3.tgz',
  ]) {
    writeFileSync(join(folder, 'dist', file), file);
  }
  return folder;
}

test('a release has the executable, package, container file, client, documents, bill, API document and changes', () => {
  const names = [...publish(built('all'), of).keys()];
  const expected = [
    'CHANGES.md',
    'Containerfile',
    `askback-1.2.3-${process.platform}-${process.arch}`,
    'askback-1.2.3-documents.tar.gz',
    'askback-1.2.3-openapi.json',
    'askback-1.2.3.cdx.json',
    'askback-client-1.2.3.tgz',
    'askback_1.2.3_amd64.deb',
  ];
  assert.deepEqual(names, expected.sort());
});

test('a release is the same from any folder, and its sums can be checked', () => {
  const later = built('other');
  utimesSync(join(later, 'README.md'), 1_800_000_000, 1_800_000_000);
  chmodSync(join(later, 'LICENSE'), 0o600);
  const [one, other] = [publish(built('one'), of), publish(later, of)];
  assert.deepEqual(differences(one, other), []);
  const folder = join(home, 'one/dist/published');
  writeFileSync(join(folder, 'SHA256SUMS'), sumsOf(one));
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: folder });
});

test('what differs is named, and what is missing is no release', () => {
  const one = publish(built('same'), of);
  const changed = built('changed');
  writeFileSync(join(changed, 'dist/askback'), 'another');
  assert.deepEqual(differences(one, publish(changed, of)), [
    `askback-1.2.3-${process.platform}-${process.arch}`,
  ]);
  const incomplete = built('incomplete');
  rmSync(join(incomplete, 'dist/askback-client-1.2.3.tgz'));
  assert.throws(() => publish(incomplete, of), /askback-client-1\.2\.3\.tgz: none/);
});
