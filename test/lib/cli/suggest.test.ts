import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean } from '../../../src/lib/cli/suggest.ts';

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
