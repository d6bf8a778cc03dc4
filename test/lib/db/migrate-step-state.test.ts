import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSteps, type StepState } from '../../../src/lib/db/migrate-step-state.ts';

const at = new Date(0);
const waiting: StepState = {
  name: 'days',
  unit: 'days',
  started_at: null,
  worker: null,
  rows_done: 0,
  rows_estimated: null,
  progressed_at: null,
  failures: 0,
  failure: null,
  retry_at: null,
  ended_at: null,
};
const begun = { ...waiting, started_at: at, rows_done: 1200 };
const ended = { ...begun, name: 'before', ended_at: at };
const under = 'step days of a migration is under way:';
const failed = 'step days of a migration failed';

const described: [StepState[], string | undefined][] = [
  [[], undefined],
  [[ended], undefined],
  [[waiting], 'step days of a migration has not begun'],
  [[ended, begun, ended], `${under} 1,200 days so far`],
  [[begun, { ...waiting, name: 'next' }], `${under} 1,200 days so far; then 1 more`],
  [[begun, waiting, ended, waiting], `${under} 1,200 days so far; then 2 more`],
  [[{ ...begun, rows_estimated: 0 }], `${under} 1,200 of about 0 days (0 %)`],
  [[{ ...begun, rows_estimated: 3600 }], `${under} 1,200 of about 3,600 days (33 %)`],
  [[{ ...begun, rows_estimated: 1213 }], `${under} 1,200 of about 1,213 days (98 %)`],
  [[{ ...begun, rows_estimated: 1200 }], `${under} 1,200 of about 1,200 days (99 %)`],
  [[{ ...begun, rows_estimated: 900 }], `${under} 1,200 of about 900 days (99 %)`],
  [[{ ...begun, failures: 1, failure: 'full' }], `${failed} once and is tried again: full`],
  [[{ ...begun, failures: 3, failure: 'full' }], `${failed} 3 times and is tried again: full`],
];

for (const [states, sentence] of described) {
  test(`steps are described: ${sentence ?? `nothing of ${states.length}`}`, () => {
    assert.equal(describeSteps(states), sentence);
  });
}
