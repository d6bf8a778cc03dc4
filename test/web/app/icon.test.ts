import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { iconStyle } from '../../../src/web/app/icon.tsx';

test('the style has the icons that the app uses and no others', () => {
  const sources = globSync('src/**/*.tsx').map((path) => readFileSync(path, 'utf8'));
  const all = sources.filter((text) => !text.includes('const icons = {')).join('\n');
  const listed = [...iconStyle().matchAll(/\.i-([a-z0-9-]+)\{/g)].map(([, name]) => name!);
  assert.ok(listed.length > 10);
  const unused = listed.filter((name) => !all.includes(`'${name}'`) && !all.includes(`"${name}"`));
  assert.deepEqual(unused, []);
});
