import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { headingsOf, linksOf } from '../support/probe/markdown.ts';

const page = readFileSync('ops/architecture.md', 'utf8');
const pages = globSync(['*.md', 'ops/**/*.md', '.github/**/*.md', 'test/**/*.md']);

const foldersIn = (path: string) =>
  readdirSync(path).filter((name) => statSync(join(path, name)).isDirectory());

test('the architecture page has a line for every room and every library', () => {
  for (const name of foldersIn('src').filter((folder) => folder !== 'lib')) {
    assert.match(page, new RegExp(`\`${name}/\``), `src/${name} is missing: add its line`);
  }
  for (const name of foldersIn('src/lib')) {
    assert.match(page, new RegExp(`^\\| \`${name}\` \\|`, 'm'), `src/lib/${name} is missing`);
  }
});

test('the files that documents name exist', () => {
  for (const path of pages) {
    const named = readFileSync(path, 'utf8').matchAll(/`((?:src|test|sql|ops)\/[\w./-]+)`/g);
    for (const [, file] of named) assert.ok(existsSync(file!), `${path} names ${file}`);
  }
});

test('the links between documents lead somewhere', () => {
  for (const path of pages) {
    for (const link of linksOf(readFileSync(path, 'utf8'))) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const target = file ? join(dirname(path), file) : path;
      assert.ok(existsSync(target), `${path} links ${link}`);
      if (anchor === undefined) continue;
      assert.ok(headingsOf(readFileSync(target, 'utf8')).has(anchor), `${path} links ${link}`);
    }
  }
});

test('the index of test/support has a line for every file', () => {
  const index = readFileSync('test/support/README.md', 'utf8');
  for (const path of globSync('test/support/*/*.ts').filter((file) => !file.endsWith('.d.ts'))) {
    assert.ok(index.includes(`\`${basename(path)}\``), `${path}: add its line`);
  }
});
