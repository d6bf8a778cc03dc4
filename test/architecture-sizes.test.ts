import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFiles } from './support/walls/sources.ts';

/** The length of functions is held by the linter (`biome.json`, noExcessiveLinesPerFunction). */
const longestFile = 200;

const files = readFiles('src/**/*.{ts,tsx}');

test(`a file has at most ${longestFile} lines`, () => {
  const long = files
    .filter(({ text }) => text.split('\n').length - 1 > longestFile)
    .map(({ path }) => path);
  const advice = 'a long file holds a second idea: give that a file of its own';
  assert.ok(long.length === 0, `${long.join(', ')}: ${advice}`);
});

test('an exported type has a name that no other has', () => {
  const homes = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, name] of text.matchAll(/^export (?:declare )?(?:type|interface|class) (\w+)/gm)) {
      homes.set(name!, [...(homes.get(name!) ?? []), path]);
    }
  }
  for (const [name, paths] of homes) {
    const advice = 'say of what it is (SurveyAnswer, MailOutcome), or stop exporting it';
    assert.equal(paths.length, 1, `${name} in ${paths.join(' and ')}: ${advice}`);
  }
});
