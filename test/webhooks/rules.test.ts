import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnsweredAttempt, judge, standAfter, testEvent } from '../../src/webhooks/rules.ts';

const attempt = (number: number, statusCode: number | null, error: string | null = null) => ({
  ...{ event: 'response.received', number, statusCode, error },
});
const tried = (statusCode: number) => ({ ...attempt(1, statusCode), event: testEvent });

const verdicts: [why: string, attempt: AnsweredAttempt, status: string, retry: number | null][] = [
  ['an answer in the 200s delivers', attempt(1, 204), 'delivered', null],
  ['also at the second try', attempt(2, 200), 'delivered', null],
  ['a first failure is tried again after five seconds', attempt(1, 500), 'pending', 5],
  ['a second one is the end', attempt(2, 500), 'failed', null],
  ['a redirect is a failure', attempt(1, 302), 'pending', 5],
  ['silence is a failure', attempt(2, null, 'no answer'), 'failed', null],
  ['an answer that was not complete is a failure', attempt(2, 200, 'reset'), 'failed', null],
  ['a test delivers as events do', tried(200), 'delivered', null],
  ['a test is not tried again', tried(500), 'failed', null],
];
for (const [why, one, status, retryInSeconds] of verdicts) {
  test(why, () => assert.deepEqual(judge(one), { status, retryInSeconds }));
}

const judged = (one: AnsweredAttempt) => ({ ...one, status: judge(one).status });
const bad = attempt(2, 500);
const standings: [
  why: string,
  attempts: AnsweredAttempt[],
  before: number,
  failures: number,
  off: boolean,
][] = [
  ['a first failure does not count yet', [attempt(1, 500)], 2, 2, false],
  ['a second one counts', [bad], 0, 1, false],
  ['the third in a row switches off', [bad], 2, 3, true],
  ['one that arrives ends the run', [bad, attempt(1, 200), bad], 1, 1, false],
  ['three at once switch off', [bad, bad, bad], 0, 3, true],
  ['tests that fail do not count', [tried(500), tried(500), tried(500)], 2, 2, false],
  ['a test that arrives ends no run', [bad, tried(200), bad], 1, 3, true],
  ['arriving afterwards does not switch on again', [bad, attempt(1, 200)], 2, 0, true],
];
for (const [why, attempts, before, failures, off] of standings) {
  test(why, () => {
    const standing = standAfter(attempts.map(judged), before);
    assert.equal(standing.failures, failures);
    assert.equal(standing.deactivatedReason !== null, off);
  });
}
