import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HeldReason, judgeAnswer, type LinkVisit } from '../../src/responses/rules.ts';

const visit = (kind: LinkVisit['kind'], score: number | null, agoMs: number) => ({
  kind,
  score,
  agoMs,
});

const cases: [why: string, visits: LinkVisit[], honeypotHit: boolean, held: HeldReason | null][] = [
  ['nothing is known of it', [], false, null],
  [
    'an answer at once after its page is not held for its speed',
    [visit('view', 9, 0)],
    false,
    null,
  ],
  [
    'the same link opened again is still one score',
    [visit('view', 9, 50), visit('view', 9, 10)],
    false,
    null,
  ],
  ['the bare page and one score', [visit('view', null, 50), visit('view', 9, 10)], false, null],
  [
    'links with two scores',
    [visit('view', 3, 9_000), visit('view', 9, 10)],
    false,
    'scores_opened',
  ],
  [
    'two scores, the first at the edge',
    [visit('view', 3, 10_000), visit('view', 9, 10)],
    false,
    'scores_opened',
  ],
  [
    'two scores, the first long before',
    [visit('view', 3, 10_001), visit('view', 9, 10)],
    false,
    null,
  ],
  ['the hidden link just before', [visit('trap', null, 9_999)], false, 'hidden_link'],
  ['the hidden link an hour before', [visit('trap', null, 3_600_000)], false, null],
  ['the hidden field', [], true, 'hidden_field'],
  ['another score posted just before', [visit('post', 3, 500)], false, 'scores_posted'],
  ['the same score posted twice', [visit('post', 9, 500)], false, null],
  ['another score posted within two seconds', [visit('post', 3, 2_000)], false, 'scores_posted'],
  ['another score posted before that: a second thought', [visit('post', 3, 2_001)], false, null],
  ['another score posted a minute before', [visit('post', 3, 60_000)], false, null],
];

for (const [why, visits, honeypotHit, held] of cases) {
  test(`${why}: ${held ?? 'counted'}`, () =>
    assert.equal(judgeAnswer({ score: 9, honeypotHit, visits }), held));
}
