import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { changesOf } from '../ops/build/changes.ts';
import { differences, publish, sumsOf } from '../ops/build/publish.ts';
import { billOfMaterials } from '../ops/build/sbom.ts';
import manifest from '../package.json' with { type: 'json' };

const home = mkdtempSync(join(tmpdir(), 'publish-'));
after(() => rmSync(home, { recursive: true }));
const of = { version: '1.2.3', seconds: 1_700_000_000 };

/** A folder like a build's, with a placeholder for each large file. */
function built(name: string) {
  const folder = join(home, name);
  mkdirSync(join(folder, 'dist'), { recursive: true });
  for (const path of ['README.md', 'LICENSE', 'ops']) {
    cpSync(path, join(folder, path), { recursive: true });
  }
  for (const file of [
    'askback',
    'askback_1.2.3_amd64.deb',
    'askback-1.2.3-1.x86_64.rpm',
    'askback-1.2.3-image-x64.tar',
    'askback-1.2.3.cdx.json',
    'askback-client-1.2.3.tgz',
  ]) {
    writeFileSync(join(folder, 'dist', file), file);
  }
  return folder;
}

test('a release contains all published files', () => {
  const names = [...publish(built('all'), of).keys()];
  const expected = [
    'CHANGES.md',
    'Containerfile',
    'install.sh',
    'latest.json',
    'askback-1.2.3-1.x86_64.rpm',
    'askback-1.2.3-compose.tar.gz',
    'askback-1.2.3-helm.tgz',
    'askback-1.2.3-image-x64.tar',
    `askback-1.2.3-${process.platform}-${process.arch}`,
    'askback-1.2.3-documents.tar.gz',
    'askback-1.2.3-openapi.json',
    'askback-1.2.3.cdx.json',
    'askback-client-1.2.3.tgz',
    'askback_1.2.3_amd64.deb',
  ];
  assert.deepEqual(names, expected.sort());
});

test('a release has an installer with its download URL', () => {
  const url = 'https://downloads.example.com/v1.2.3';
  const at = (folder: string, options: object) =>
    readFileSync(publish(built(folder), { ...of, ...options }).get('install.sh')!.path, 'utf8');
  assert.match(at('published', { url }), /^published='https:\/\/downloads.example.com\/v1.2.3'$/m);
  assert.match(at('unpublished', {}), /^published='@DOWNLOAD_URL@'$/m);
});

const namesOfVersion = {
  'ops/kubernetes/askback.yaml': /askback:(\d+\.\d+\.\d+)/g,
  'ops/kubernetes/backup.yaml': /askback:(\d+\.\d+\.\d+)/g,
  'ops/compose/env.example': /askback:(\d+\.\d+\.\d+)/g,
  'ops/helm/Chart.yaml': /ersion: "?(\d+\.\d+\.\d+)/g,
};
for (const [file, pattern] of Object.entries(namesOfVersion)) {
  test(`${file} has the version of package.json`, () => {
    const named = [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, version]) => version);
    assert.deepEqual(new Set(named), new Set([manifest.version]));
  });
}

test('a release does not depend on its folder, and its checksums verify', () => {
  const later = built('other');
  utimesSync(join(later, 'README.md'), 1_800_000_000, 1_800_000_000);
  chmodSync(join(later, 'LICENSE'), 0o600);
  const [one, other] = [publish(built('one'), of), publish(later, of)];
  assert.deepEqual(differences(one, other), []);
  const folder = join(home, 'one/dist/published');
  writeFileSync(join(folder, 'SHA256SUMS'), sumsOf(one));
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: folder });
});

test('a release names changed files and refuses missing ones', () => {
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

const packages = ['node_modules/@opentelemetry/api', 'node_modules/hono', 'node_modules/postgres'];
const { components } = billOfMaterials(packages);

test('the SBOM lists packages, Node and Postgres with version and license', () => {
  const named = components.filter(({ purl }) => purl);
  const lines = named.map(({ purl, licenses }) => `${purl} ${JSON.stringify(licenses)}`);
  const versionOf = (name: string) =>
    (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string })
      .version;
  assert.deepEqual(lines.slice(2), [
    `pkg:npm/%40opentelemetry/api@${versionOf('@opentelemetry/api')} [{"license":{"id":"Apache-2.0"}}]`,
    `pkg:npm/hono@${versionOf('hono')} [{"license":{"id":"MIT"}}]`,
    `pkg:npm/postgres@${versionOf('postgres')} [{"license":{"id":"Unlicense"}}]`,
  ]);
  assert.match(lines[0]!, /^pkg:generic\/node@\d+\.\d+\.\d+ \[\{"license":\{"id":"MIT"/);
  assert.match(lines[1]!, /^pkg:generic\/postgresql@\d+\.\d+ \[\{"license":\{"id":"PostgreSQL"/);
});

const changelog = '# Changes\n\n## [Unreleased]\n\nNew.\n\n## [1.2.0] - 2026-01-02\n\nOld.\n';

test('a release has the changelog of its version, or the unreleased one', () => {
  assert.equal(changesOf(changelog, '1.2.0'), '## [1.2.0] - 2026-01-02\n\nOld.\n');
  assert.equal(changesOf(changelog, '1.3.0'), '## [Unreleased]\n\nNew.\n');
  assert.throws(() => changesOf('# Changes\n', '1.2.0'), /no entry for 1\.2\.0/);
});
