import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyReport } from '../../src/suppressions/bounces.ts';
import type { RecipientStatus, Report } from '../../src/suppressions/report.ts';

const email = 'Ann@People.test';
const hard: RecipientStatus = {
  action: 'failed',
  status: '5.1.1',
  diagnostic: 'no such user',
  recipients: ['ann@people.test'],
};
const well: RecipientStatus = {
  action: 'delivered',
  status: '2.0.0',
  diagnostic: '',
  recipients: ['bob@people.test'],
};
const none = { action: 'none', detail: null };

const classify = (statuses: RecipientStatus[], over: Partial<Report> = {}) =>
  classifyReport(
    { kind: 'delivery', statuses, feedback: '', returnPaths: [], messageIds: [], ...over },
    email,
  );

test('report concerns our recipient even when it was forwarded', () => {
  const forwarded = { ...hard, recipients: ['ann@people.test', 'old@elsewhere.test'] };
  const bounced = { action: 'bounced', detail: '5.1.1 no such user' };
  assert.deepEqual(classify([hard]), bounced);
  assert.deepEqual(classify([well, forwarded]), bounced);
  assert.deepEqual(classify([{ ...hard, recipients: ['old@elsewhere.test'] }]), bounced);
  assert.deepEqual(classify([{ ...hard, recipients: ['old@elsewhere.test'] }, well]), none);
  assert.deepEqual(classify([]), none);
});

test('bounce needs all statuses of the recipient to be final', () => {
  const other = { ...hard, status: '5.2.1', diagnostic: 'disabled' };
  assert.deepEqual(classify([hard, other]), { action: 'bounced', detail: '5.1.1 no such user' });
  assert.deepEqual(classify([hard, { ...hard, action: 'delayed' }]), none);
});

test('bounce reason is cut to 500 characters', () => {
  const { detail } = classify([{ ...hard, diagnostic: 'd'.repeat(600) }]);
  assert.equal(detail, `5.1.1 ${'d'.repeat(494)}`);
});

const account = (between: number) => `does not have a ${'x'.repeat(between)} account`;
const said: [status: string, diagnostic: string, isHard: boolean][] = [
  ['5.1.0', 'other', true],
  ['5.1.10', 'other', true],
  ['5.1.7', 'no such user', false],
  ['5.1.8', 'no such user', false],
  ['5.2.1', 'other', true],
  ['5.4.310', 'other', true],
  ['4.1.1', 'no such user', false],
  ['5.2.2', 'no such user', false],
  ...['5.0.0', '5.5.0', '5.4.1', '5.7.1'].flatMap((status): [string, string, boolean][] => [
    [status, 'User unknown', true],
    [status, 'rejected as spam', false],
  ]),
  ...['mailbox not found', 'address does not exist', 'account is invalid'].map(
    (words): [string, string, boolean] => ['5.7.1', `550 ${words}`, true],
  ),
  ['5.7.1', 'No mailbox here by that name', true],
  ['5.7.1', account(39), true],
  ['5.7.1', account(40), false],
];
for (const [status, diagnostic, isHard] of said) {
  test(`${status} ${diagnostic} is ${isHard ? 'final' : 'not final'}`, () => {
    const { action } = classify([{ ...hard, status, diagnostic }]);
    assert.equal(action, isHard ? 'bounced' : 'none');
  });
}

for (const [feedback, action] of [
  ['abuse', 'unsubscribed'],
  ['opt-out', 'unsubscribed'],
  ['opt-out-list', 'unsubscribed'],
  ['not-spam', 'none'],
] as const) {
  test(`complaint with ${feedback} makes an address ${action}`, () => {
    assert.equal(classify([], { kind: 'complaint', feedback }).action, action);
  });
}
