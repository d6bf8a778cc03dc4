import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkSubmission,
  findHoldReason,
  type HeldReason,
  type LinkVisit,
  readScore,
} from '../../src/responses/rules.ts';

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
  [
    'a link with another score opened before the same one is posted again',
    [visit('view', 3, 9_000), visit('post', 9, 10)],
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
    assert.equal(findHoldReason({ score: 9, honeypotHit, visits }), held));
}

const long = (length: number) => '👩'.repeat(length);
const submissions: [score: unknown, comment: unknown, checked: object][] = [
  [9, undefined, { score: 9, comment: null }],
  ['0', null, { score: 0, comment: null }],
  [10, ' a\r\nb\rc\n', { score: 10, comment: 'a\nb\nc' }],
  [9, ' \n', { score: 9, comment: null }],
  [9, long(5000), { score: 9, comment: long(5000) }],
  [9, ` ${long(5000)} `, { score: 9, comment: long(5000) }],
  [
    9,
    long(5001),
    { code: 'comment_too_long', message: 'comment must have at most 5000 characters' },
  ],
  [9, 7, { code: 'comment_invalid', message: 'comment must be text' }],
  [11, null, { code: 'score_invalid', message: 'score must be a whole number from 0 to 10' }],
  [undefined, 'a', { code: 'score_invalid', message: 'score must be a whole number from 0 to 10' }],
];
for (const [score, comment, checked] of submissions) {
  test(`reads ${score} with ${JSON.stringify(comment)?.slice(0, 20)} as ${JSON.stringify(checked).slice(0, 60)}`, () => {
    if ('code' in checked) {
      assert.throws(() => checkSubmission('nps', { score, comment }), checked);
    } else assert.deepEqual(checkSubmission('nps', { score, comment }), checked);
  });
}

test('a score outside the scale is rejected with the ends of the scale', () => {
  assert.throws(() => checkSubmission('csat', { score: 6, comment: null }), {
    code: 'score_invalid',
    message: 'score must be a whole number from 1 to 5',
  });
});

test('a score is a whole number of one or two digits', () => {
  for (const posted of [0, 7, 99]) assert.equal(readScore(posted), posted);
  for (const posted of ['0', '07', '99']) assert.equal(readScore(posted), Number(posted));
  for (const posted of [
    -1,
    100,
    1.5,
    Number.NaN,
    '',
    '100',
    '-1',
    ' 9',
    '9 ',
    '1.0',
    null,
    [9],
    true,
  ])
    assert.equal(readScore(posted), null, String(posted));
});
