import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { changesOf } from '../ops/build/changes.ts';
import { billOfMaterials } from '../ops/build/sbom.ts';

const packages = ['node_modules/@opentelemetry/api', 'node_modules/hono', 'node_modules/postgres'];
const { components } = billOfMaterials(packages);

test('the bill of materials names every package, Node and Postgres with version and licence', () => {
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

const changelog = '# Changes\n\n## Unreleased\n\nNew.\n\n## 1.2.0 - 2026-01-02\n\nOld.\n';

test('a release publishes the entry of its version, and before it has one what is unreleased', () => {
  assert.equal(changesOf(changelog, '1.2.0'), '## 1.2.0 - 2026-01-02\n\nOld.\n');
  assert.equal(changesOf(changelog, '1.3.0'), '## Unreleased\n\nNew.\n');
  assert.throws(() => changesOf('# Changes\n', '1.2.0'), /no entry for 1\.2\.0/);
});
