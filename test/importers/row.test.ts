import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delighted, planFile, readRow } from '../../src/importers/rows.ts';
import type { SurveyType } from '../../src/survey-types.ts';

const now = Date.parse('2026-05-01T00:00:00Z');

function read(columns: Record<string, string>, type: SurveyType = 'nps') {
  const plan = planFile(delighted, { header: Object.keys(columns), line: 1, as: undefined });
  return readRow(Object.values(columns), { plan, type, zone: 'UTC', now });
}

const scored = (score: string, type?: SurveyType) =>
  read({ Score: score, 'Created At': '2026-04-01 10:00:00 UTC' }, type).kind;

test('score is an integer on the scale, in any spelling', () => {
  for (const score of ['0', '9', '10', '9.0', '10.00'])
    assert.equal(scored(score), 'response', score);
  for (const score of ['9.5', '9.05', '10.50', '11', '-1', '9,0', '1e1', 'nine', '0x9', '9.'])
    assert.equal(scored(score), 'unclear', score);
  assert.equal(scored('0', 'csat'), 'unclear');
  assert.equal(scored('5.0', 'csat'), 'response');
  assert.equal(scored(''), 'passed');
});

test('yes or a time is a suppression, and no or nothing is a person', () => {
  const person = (unsubscribed: string) =>
    read({ Email: 'ann@people.test', Unsubscribed: unsubscribed });
  for (const no of ['', '0', 'no', 'No', 'false', 'FALSE', 'null', 'never', 'Never'])
    assert.equal(person(no).kind, 'person', no);
  for (const yes of ['1', 'yes', 'TRUE', '2026-04-01 10:00:00 UTC'])
    assert.equal(person(yes).kind, 'suppression', yes);
  assert.equal(person('perhaps').kind, 'unclear');
});
