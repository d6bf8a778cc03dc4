import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { headingsOf, linksOf } from '../support/probe/markdown.ts';

const pages = globSync(['*.md', 'ops/**/*.md', '.github/**/*.md', 'test/**/*.md'], {
  exclude: ['**/node_modules'],
});

test('files that documents mention exist', () => {
  for (const path of pages) {
    const named = readFileSync(path, 'utf8').matchAll(/`((?:src|test|sql|ops)\/[\w./-]+)`/g);
    for (const [, file] of named) assert.ok(existsSync(file!), `${path} names ${file}`);
  }
});

test('links between documents resolve', () => {
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
