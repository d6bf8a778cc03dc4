import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean } from '../../../src/lib/cli/command.ts';

const known = ['send', 'survey', 'contact', 'org', 'x'];

/** Each is one edit away, at the beginning, in the middle and at the end, or too far. */
for (const [written, meant] of [
  ['survey', 'survey'],
  ['surveyy', 'survey'],
  ['surve', 'survey'],
  ['survez', 'survey'],
  ['turvey', 'survey'],
  ['suvrey', 'survey'],
  ['surveye', 'survey'],
  ['usrvey', 'survey'],
  ['surevy', 'survey'],
  ['sorvay', 'survey'],
  ['sorve', undefined],
  ['surv', undefined],
  ['contcat', 'contact'],
  ['contcats', 'contact'],
  ['ogr', 'org'],
  ['sned', 'send'],
  ['sens', 'send'],
  ['sentt', undefined],
  ['y', 'x'],
  ['yz', undefined],
  ['sned-', undefined],
  ['esdn', undefined],
] as const) {
  test(`'${written}' may mean ${meant ?? 'nothing known'}`, () => {
    assert.equal(didYouMean(written, known), meant ? `; did you mean '${meant}'?` : '');
  });
}

test('of several near words the nearest is meant, and of two as near the first', () => {
  const meant = (written: string, ...words: string[]) => didYouMean(written, words);
  const survey = "; did you mean 'survey'?";
  assert.equal(meant('surveys', 'survexy', 'survey', 'purveyor'), survey);
  assert.equal(meant('surveys', 'survey', 'survexy'), survey);
  assert.equal(meant('sarvey', 'survey', 'servey'), survey);
  assert.equal(meant('sarvey', 'servey', 'survey'), "; did you mean 'servey'?");
});
