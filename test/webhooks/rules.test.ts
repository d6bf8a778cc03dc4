import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AnsweredAttempt,
  judge,
  type RetryKind,
  standAfter,
  testEvent,
} from '../../src/webhooks/rules.ts';

const attempt = (number: number, statusCode: number | null, error: string | null = null) => ({
  event: 'response.received',
  number,
  statusCode,
  error,
  retryAfterSeconds: null,
});
const tried = (statusCode: number) => ({ ...attempt(1, statusCode), event: testEvent });
const standard = { retries: 'standard', random: 0.9 } as const;

const verdicts: [why: string, attempt: AnsweredAttempt, status: string, retry: number | null][] = [
  ['an answer in the 200s delivers', attempt(1, 204), 'delivered', null],
  ['the first of these statuses delivers', attempt(1, 200), 'delivered', null],
  ['the last of these statuses delivers', attempt(1, 299), 'delivered', null],
  ['the status before them is a failure', attempt(1, 199), 'pending', 5],
  ['the status after them is a failure', attempt(1, 300), 'pending', 5],
  ['a first failure is tried again after five seconds', attempt(1, 500), 'pending', 5],
  ['a second one is the end', attempt(2, 500), 'failed', null],
  ['a redirect is a failure', attempt(1, 302), 'pending', 5],
  ['silence is a failure', attempt(2, null, 'no answer'), 'failed', null],
  ['an answer that was not complete is a failure', attempt(2, 200, 'reset'), 'failed', null],
  ['a test delivers as events do', tried(200), 'delivered', null],
  ['a test is not retried', tried(500), 'failed', null],
];
for (const [why, one, status, retryInSeconds] of verdicts) {
  test(why, () => assert.deepEqual(judge(one, standard), { status, retryInSeconds }));
}

const extended = (random: number) => ({ retries: 'extended', random }) as const;
const extendedSteps = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];

test('extended retries have seven steps, then the delivery fails', () => {
  const waits = extendedSteps.map((_, at) => judge(attempt(at + 1, 500), extended(0.5)));
  assert.deepEqual(
    waits,
    extendedSteps.map((retryInSeconds) => ({ status: 'pending', retryInSeconds })),
  );
  assert.deepEqual(judge(attempt(8, 500), extended(0.5)), {
    status: 'failed',
    retryInSeconds: null,
  });
  assert.equal(judge(attempt(8, 200), extended(0.5)).status, 'delivered');
  assert.equal(judge(tried(500), extended(0.5)).status, 'failed');
});

test('extended steps vary by up to 10 %', () => {
  for (const [at, step] of extendedSteps.entries()) {
    const [shortest, longest] = [0, 1].map((random) =>
      judge(attempt(at + 1, 500), extended(random)),
    );
    assert.ok(Math.abs(shortest!.retryInSeconds! - step * 0.9) < 1e-6);
    assert.ok(Math.abs(longest!.retryInSeconds! - step * 1.1) < 1e-6);
  }
});

const asked: [
  why: string,
  kind: RetryKind,
  number: number,
  status: number,
  asks: number,
  seconds: number,
][] = [
  ['503 that asks for longer gets it', 'extended', 2, 503, 400, 400],
  ['429 gets it as well', 'extended', 2, 429, 400, 400],
  ['nothing gets less than the step', 'extended', 2, 503, 1, 300],
  ['nothing gets more than twice the step', 'extended', 2, 503, 86_400, 600],
  ['the last step too goes to twice at most', 'extended', 7, 429, 1e9, 72_000],
  ['another status cannot ask', 'extended', 2, 500, 400, 300],
  ['a standard webhook honours Retry-After', 'standard', 1, 503, 8, 8],
  ['a standard webhook waits 10 seconds at most', 'standard', 1, 429, 60, 10],
];
for (const [why, retries, number, status, retryAfterSeconds, seconds] of asked) {
  test(`Retry-After: ${why}`, () => {
    const one = { ...attempt(number, status), retryAfterSeconds };
    assert.equal(judge(one, { retries, random: 0.5 }).retryInSeconds, seconds);
  });
}

test('Retry-After adds no further attempt', () => {
  const last = { ...attempt(8, 503), retryAfterSeconds: 60 };
  assert.equal(judge(last, extended(0.5)).status, 'failed');
});

const judged = (one: AnsweredAttempt) => ({ ...one, status: judge(one, standard).status });
const bad = attempt(2, 500);
const standings: [
  why: string,
  attempts: AnsweredAttempt[],
  before: number,
  failures: number,
  off: boolean,
][] = [
  ['three at once switch off', [bad, bad, bad], 0, 3, true],
  ['tests that fail do not count', [tried(500), tried(500), tried(500)], 2, 2, false],
  ['a test that arrives ends no run', [bad, tried(200), bad], 1, 3, true],
  ['a later delivery does not turn the webhook on again', [bad, attempt(1, 200)], 2, 0, true],
];
for (const [why, attempts, failuresBefore, failures, off] of standings) {
  test(why, () => {
    const before = {
      retries: 'standard',
      failures: failuresBefore,
      undeliveredSeconds: 0,
    } as const;
    const standing = standAfter(attempts.map(judged), before);
    assert.equal(standing.failures, failures);
    assert.equal(standing.deactivatedReason !== null, off);
  });
}

const threeDays = 3 * 86_400;
const fails = { ...attempt(8, 503), status: 'failed' } as const;
const waits = { ...attempt(1, 503), status: 'pending' } as const;
const arrives = { ...attempt(1, 200), status: 'delivered' } as const;
const patient: [
  why: string,
  attempts: (typeof fails | typeof waits | typeof arrives)[],
  before: [failures: number, undeliveredSeconds: number],
  off: boolean,
][] = [
  ['stays on after many failures within three days', [fails, fails], [40, threeDays - 1], false],
  ['stays on after three days with two failures', [fails], [1, threeDays], false],
  ['turns off at the third failure after three days', [fails], [2, threeDays], true],
  ['turns off at any failed attempt once both limits are reached', [waits], [3, threeDays], true],
  ['stays on when one arrives before', [arrives, fails, fails, fails], [9, threeDays], false],
  ['stays on when one arrives at last', [arrives], [9, threeDays], false],
];
for (const [why, attempts, [failures, undeliveredSeconds], off] of patient) {
  test(`extended retries: ${why}`, () => {
    const before = { retries: 'extended', failures, undeliveredSeconds } as const;
    const { deactivatedReason, hasDelivered } = standAfter(attempts, before);
    assert.equal(deactivatedReason !== null, off);
    if (off) assert.match(deactivatedReason!, /for 3 days and 3 deliveries failed.*status 503\)$/);
    assert.equal(hasDelivered, attempts[0] === arrives);
  });
}

test('a delivered test does not count as a delivery', () => {
  const before = { retries: 'extended', failures: 3, undeliveredSeconds: threeDays } as const;
  const arrived = { ...arrives, event: testEvent };
  assert.deepEqual(standAfter([arrived], before), {
    failures: 3,
    hasDelivered: false,
    deactivatedReason: null,
  });
});
