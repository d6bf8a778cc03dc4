import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HeldReason, judgeAnswer, type ScannerSign } from '../../src/responses/rules.ts';

const signal = (kind: ScannerSign['kind'], score: number | null, agoMs: number) => ({
  kind,
  score,
  agoMs,
});

const cases: [why: string, signals: ScannerSign[], trapped: boolean, held: HeldReason | null][] = [
  ['nothing is known of it', [], false, null],
  [
    'an answer at once after its page is not held for its speed',
    [signal('view', 9, 0)],
    false,
    null,
  ],
  [
    'the same link opened again is still one score',
    [signal('view', 9, 50), signal('view', 9, 10)],
    false,
    null,
  ],
  [
    'the bare page beside one score',
    [signal('view', null, 50), signal('view', 9, 10)],
    false,
    null,
  ],
  [
    'links with two scores',
    [signal('view', 3, 9_000), signal('view', 9, 10)],
    false,
    'scores_opened',
  ],
  [
    'two scores, the first at the edge',
    [signal('view', 3, 10_000), signal('view', 9, 10)],
    false,
    'scores_opened',
  ],
  [
    'two scores, the first long before',
    [signal('view', 3, 10_001), signal('view', 9, 10)],
    false,
    null,
  ],
  ['the hidden link just before', [signal('trap', null, 9_999)], false, 'hidden_link'],
  ['the hidden link an hour before', [signal('trap', null, 3_600_000)], false, null],
  ['the hidden field', [], true, 'hidden_field'],
  ['another score posted just before', [signal('post', 3, 500)], false, 'scores_posted'],
  ['the same score posted twice', [signal('post', 9, 500)], false, null],
  ['another score posted within two seconds', [signal('post', 3, 2_000)], false, 'scores_posted'],
  ['another score posted before that: a second thought', [signal('post', 3, 2_001)], false, null],
  ['another score posted a minute before', [signal('post', 3, 60_000)], false, null],
];

for (const [why, signals, trapped, held] of cases) {
  test(`${why}: ${held ?? 'counted'}`, () =>
    assert.equal(judgeAnswer({ score: 9, trapped, signals }), held));
}
