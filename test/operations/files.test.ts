import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { operatorFiles } from '../../src/operations/archive.ts';
import { askback } from '../support/processes/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'askback-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('askback files writes the manual and every linked file', async () => {
  const { code, stdout } = await askback(['files', folder, '--json']);
  const { files } = JSON.parse(stdout) as { files: string[] };
  assert.equal(code, 0);
  const needed = [
    'operations.md',
    'runbook.md',
    'proxy.md',
    'prometheus/rules.yml',
    'prometheus/prometheus.yml',
    'grafana/askback.json',
    'otel/collector.yaml',
    'webhooks/verify.py',
  ];
  for (const name of needed) assert.ok(files.includes(name), name);
  const pages = globSync('**/*.md', { cwd: folder });
  assert.ok(pages.length > 5);
  for (const page of pages) {
    for (const target of linksIn(readFileSync(join(folder, page), 'utf8'))) {
      assert.ok(existsSync(join(folder, dirname(page), target)), `${page} links to ${target}`);
    }
  }
});

test('askback files only overwrites with --force', async () => {
  const again = await askback(['files', folder]);
  assert.equal(again.code, 1);
  const first = join(folder, operatorFiles()[0]!);
  assert.equal(again.stderr, `askback: ${first} exists: use another folder, or --force\n`);
  assert.equal((await askback(['files', folder, '--force'])).code, 0);
});

test('askback files explains a folder that is not writable', async () => {
  const impossible = ['/proc/askback', '/dev/null/askback', join(folder, 'operations.md')];
  for (const name of impossible) {
    const { code, stderr } = await askback(['files', name]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^askback: ${name}/\\S+ cannot be written: .+\n$`));
  }
});

/** Targets of links within the repository, without fragments. */
function linksIn(markdown: string): string[] {
  const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return targets
    .filter((target) => !/^([a-z]+:|#)/.test(target))
    .map((target) => target.replace(/#.*$/, ''));
}
