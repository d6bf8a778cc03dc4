import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bundle } from '../../ops/build/bundle.ts';
import { noticesFile, noticesFor, titleOf } from '../../ops/build/notices.ts';
import { askback } from '../support/processes/program.ts';

const text = readFileSync(noticesFile, 'utf8');

test('licenses.txt has the license of every package in the bundle', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'askback-licenses-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { packages } = await bundle('src/main.ts', join(folder, 'askback.mjs'));
  assert.ok(packages.length > 50);
  for (const folder of packages) {
    assert.ok(text.includes(`\n${titleOf(folder)}\n`), `${folder}: run make licenses`);
  }
  assert.equal(noticesFor(packages), text, `${noticesFile} is old: run make licenses`);
});

test('licenses.txt has the licenses of Node, PostgreSQL and their libraries', () => {
  for (const name of ['Node.js', 'PostgreSQL', 'OpenSSL', 'ICU', 'libxml2', 'libxslt', 'zlib']) {
    assert.match(text, new RegExp(`={80}\n${name}.*\n={80}\n\n[^=]{200}`), name);
  }
  assert.match(text, /product includes software developed by the OpenSSL Project/);
});

test('askback licenses prints licenses.txt', async () => {
  const { stdout, code } = await askback(['licenses']);
  assert.equal(code, 0);
  assert.equal(stdout.trim(), text.trim());
});
