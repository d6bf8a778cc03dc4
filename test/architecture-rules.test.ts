import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertWithout, importsOf, readFiles, type SourceFile } from './support/walls/sources.ts';

/** What makes a function's answer depend on more than its arguments. */
const impure =
  /\basync\b(?!\/)|\bawait\b|\bPromise\b|Date\.now|performance\.now|new Date\(\)|randomUUID|randomBytes|Math\.random|\bprocess\.|\bsql`/;
const purePackages = /^(node:(crypto|zlib|url|net)|ipaddr\.js)$/;

const files = new Map(readFiles('src/**/*.{ts,tsx}').map((file) => [file.path, file]));
const rules = [...files.values()].filter(({ path }) => /(^|[/.])(rules|scores)\.ts$/.test(path));

test('rules are found by their names', () => {
  assert.ok(rules.length > 10, 'rules stand in rules.ts, NAME.rules.ts or scores.ts');
});

for (const rule of rules) {
  test(`${rule.path} decides from its arguments alone`, () => {
    for (const { path, text } of withImports(rule)) {
      const advice = 'rules are pure: pass in the time, the random value or what was read';
      assertWithout(code(text), impure, `${path}: ${advice}`);
      for (const name of packagesOf(text)) {
        assert.match(name, purePackages, `${path} imports ${name}: ${advice}`);
      }
    }
  });
}

/** A rule and all whose functions or constants it uses, near or far. */
function withImports(rule: SourceFile): SourceFile[] {
  const found = new Set([rule]);
  for (const file of found) {
    for (const target of importsOf(file, 'values')) found.add(files.get(target)!);
  }
  return [...found];
}

const packagesOf = (text: string): string[] =>
  [...text.matchAll(/^import (?!type\b)[^;]*?from '([^.'][^']*)'/gm)].map(([, name]) => name!);

const code = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
