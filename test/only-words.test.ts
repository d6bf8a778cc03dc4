import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { chosenBy } from './support/only-words.ts';

const names = ['full disk of tables', 'full disk of the log', 'leader killed'];

test('words choose names that contain one of them, and no words choose all', () => {
  assert.deepEqual(chosenBy([], names), names);
  assert.deepEqual(chosenBy(['full-disk'], names), names.slice(0, 2));
  assert.deepEqual(chosenBy(['log', 'killed'], names), names.slice(1));
});

const runs = {
  bench: ['units', 'answers', 'reads'],
  faults: ['ten connections ended a second', 'neighbours, replays'],
  drills: ['rolling restarts', 'leader killed'],
};
for (const [folder, expected] of Object.entries(runs)) {
  test(`make ${folder} refuses a word that is in no name, and lists the names`, () => {
    const words = ['--import', 'tsx', `test/${folder}/run.ts`, 'log', 'units', 'one', 'nonsense'];
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /^only= takes words of these names; .*"nonsense" is in none:\n/);
    for (const name of expected) assert.match(stderr, new RegExp(`^ {2}${name}`, 'm'));
    assert.doesNotMatch(stderr, /^ {4}at /m);
  });
}
