import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MailOutcome } from '../../src/lib/smtp/connection.ts';
import {
  type Beginning,
  createRefusalWatch,
  decide,
  deferralMs,
  type MailDecision,
  mailTime,
  toRow,
} from '../../src/sends/rules.ts';
import { accepted, busy, lost, rejected, unanswered } from '../support/make/mail-outcomes.ts';

const begun = { attempt: 1 };
type Case = [
  what: string,
  outcome: MailOutcome,
  beginning: Beginning | undefined,
  at: { tries: number; remainingMs: number },
  decision: MailDecision,
];
const failed = (code: 'refused' | 'deadline', reason: string, bounced = false): MailDecision => ({
  status: 'failed',
  code,
  reason,
  bounced,
});
const first = { tries: 1, remainingMs: 60_000 };
const late = 'not sent before the deadline of the request';

const cases: Case[] = [
  ['accepted', accepted(), begun, first, { status: 'sent', response: '250 ok' }],
  ['unanswered', unanswered('cut'), begun, first, { status: 'unknown', reason: 'cut' }],
  ['rejected', rejected('554 no'), begun, first, failed('refused', '554 no')],
  [
    'rejected, for its mailbox is unknown',
    rejected('550 5.1.1 no', { unknownMailbox: true }),
    begun,
    first,
    failed('refused', '550 5.1.1 no', true),
  ],
  ['busy once', busy('450'), begun, first, { status: 'retry', inMs: 1000, reason: '450' }],
  [
    'busy twice',
    busy('450'),
    begun,
    { ...first, tries: 2 },
    { status: 'retry', inMs: 4000, reason: '450' },
  ],
  ['busy three times', busy('450'), begun, { ...first, tries: 3 }, failed('refused', '450')],
  [
    'busy with a second left',
    busy('450'),
    begun,
    { tries: 1, remainingMs: 1000 },
    { status: 'retry', inMs: 1000, reason: '450' },
  ],
  [
    'busy with less than a second left',
    busy('450'),
    begun,
    { tries: 1, remainingMs: 999 },
    failed('refused', '450'),
  ],
  [
    'without a connection',
    lost('refused'),
    undefined,
    first,
    { status: 'retry', inMs: 1000, reason: 'refused' },
  ],
  [
    'without a connection when the time is over',
    lost('refused'),
    undefined,
    { tries: 1, remainingMs: 0 },
    failed('deadline', late),
  ],
  ['too late to begin', lost(), 'late', { tries: 1, remainingMs: 5000 }, failed('deadline', late)],
  [
    'lost on the way when the time is over',
    lost('reset'),
    begun,
    { tries: 1, remainingMs: 0 },
    failed('refused', 'reset'),
  ],
  [
    'blocked after its claim',
    lost(),
    { blocked: 'unsubscribed' },
    first,
    { status: 'blocked', by: 'unsubscribed' },
  ],
];

for (const [what, outcome, beginning, at, decision] of cases) {
  test(`mail that is ${what}: ${decision.status}`, () => {
    assert.deepEqual(decide({ outcome, beginning }, { ageMs: null, ...at }), decision);
  });
}

const mail = { id: 'm', org_id: 'o', attempt: 2, reminder: 0 };
const rows: [decision: MailDecision, status: string, contact: string, code: string | null][] = [
  [{ status: 'sent', response: '250 ok' }, 'sent', 'sent', null],
  [{ status: 'retry', inMs: 1000, reason: '450' }, 'claimed', 'sending', null],
  [{ status: 'unknown', reason: 'cut' }, 'unknown', 'failed', 'unknown_outcome'],
  [failed('refused', '554'), 'failed', 'failed', 'refused'],
  [failed('refused', '550', true), 'failed', 'bounced', 'refused'],
  [failed('deadline', late), 'failed', 'failed', 'deadline'],
  [{ status: 'blocked', by: 'unsubscribed' }, 'failed', 'unsubscribed', 'unsubscribed'],
  [{ status: 'blocked', by: 'bounced' }, 'failed', 'bounced', 'bounced'],
  [{ status: 'blocked', by: 'answered' }, 'failed', 'sent', 'already_sent'],
];

for (const [decision, status, contact_status, reason_code] of rows) {
  test(`${JSON.stringify(decision)} makes ${status}, contact ${contact_status}`, () => {
    const row = toRow(mail, decision);
    assert.partialDeepStrictEqual(row, {
      id: 'm',
      org_id: 'o',
      attempt: 2,
      status,
      contact_status,
      reason_code,
    });
    const isContactAtFault = decision.status === 'failed' || decision.status === 'unknown';
    assert.equal(row.failure_reason !== null, isContactAtFault);
  });
}

const hourMs = 60 * 60 * 1000;
const lastTry = { tries: 3, remainingMs: 30_000 };

const patient: [what: string, outcome: MailOutcome, ageMs: number, status: string][] = [
  ['lost its connection', lost(), 24 * hourMs - 1, 'deferred'],
  ['lost its connection for a day', lost(), 24 * hourMs, 'failed'],
  ['was refused for the moment', busy(), 4 * hourMs - 1, 'deferred'],
  ['was refused for four hours', busy(), 4 * hourMs, 'failed'],
  ['was refused', rejected('554 no'), 0, 'failed'],
];

for (const [what, outcome, ageMs, status] of patient) {
  test(`unawaited mail that ${what} is ${status} after its last try`, () => {
    const attempt = { outcome, beginning: { attempt: 3 } };
    assert.equal(decide(attempt, { ...lastTry, ageMs }).status, status);
  });
}

test('unawaited mail is deferred when its job has no time left', () => {
  const decision = decide(
    { outcome: lost(), beginning: 'late' },
    { tries: 1, remainingMs: 0, ageMs: 0 },
  );
  assert.equal(decision.status, 'deferred');
});

test('reminder changes its contact only when it bounces', () => {
  const reminder = { ...mail, reminder: 1 };
  const changes = (decision: MailDecision) => {
    const { contact_status, failure_reason } = toRow(reminder, decision);
    return [contact_status, failure_reason];
  };
  assert.deepEqual(changes({ status: 'sent', response: '250 ok' }), [null, null]);
  assert.deepEqual(changes({ status: 'unknown', reason: 'cut' }), [null, null]);
  assert.deepEqual(changes(failed('refused', '554')), [null, null]);
  assert.deepEqual(changes(failed('refused', '550', true)), ['bounced', '550']);
});

test('refusal of a whole survey defers unawaited mails', () => {
  const refusal = rejected('535 no', { about: 'server' });
  const tried = { outcome: refusal, beginning: undefined };
  const reason = 'the mail server refuses the connection or login: 535 no';
  const at = { ...first, refusesAll: true };
  assert.deepEqual(decide(tried, { ...at, ageMs: 0 }), { status: 'deferred', reason });
  assert.deepEqual(decide(tried, { ...at, ageMs: null }), failed('refused', reason));
  assert.deepEqual(decide(tried, { ...at, ageMs: 24 * hourMs }), failed('refused', reason));
});

const policy = rejected('554 5.7.1 spam', { about: 'policy' });

test('policy refusal is retried while it may concern all mails', () => {
  const tried = { outcome: policy, beginning: begun };
  assert.equal(decide(tried, { ...first, ageMs: 0 }).status, 'retry');
  assert.equal(decide(tried, { ...lastTry, ageMs: 0 }).status, 'failed');
  assert.equal(decide(tried, { ...first, ageMs: null }).status, 'failed');
  assert.equal(decide(tried, { ...lastTry, triesOfJob: 1, ageMs: 0 }).status, 'retry');
});

test('policy that refuses the first three mails refuses all', () => {
  const refusesAll = createRefusalWatch();
  assert.deepEqual(
    ['a', 'a', 'a', 'b', 'c'].map((id) => refusesAll({ id }, policy)),
    [false, false, false, false, true],
  );
});

test('policy that refuses ten in a row refuses all', () => {
  const refusesAll = createRefusalWatch();
  const tell = (id: string, outcome = policy) => refusesAll({ id }, outcome);
  tell('a');
  tell('b', accepted());
  const nine = Array.from({ length: 9 }, (_, n) => tell(`n${n}`));
  assert.deepEqual(new Set(nine), new Set([false]));
  assert.equal(tell('last'), true);
});

test('refused connection or sender refuses all at once', () => {
  const refusesAll = createRefusalWatch();
  const by = (about: 'server' | 'sender' | 'mail') =>
    refusesAll({ id: 'a' }, rejected('550', { about }));
  assert.deepEqual([by('server'), by('sender'), by('mail')], [true, true, false]);
});

test('deferred mail waits longer each time, at most five minutes', () => {
  assert.deepEqual([0, 10_000, 24 * hourMs].map(deferralMs), [1000, 5000, 300_000]);
});

/** Ages of awaited and unawaited mails, and the time that they are tried. */
const times: [ago: number, awaited: boolean, tried: number][] = [
  [0, true, 59_000],
  [5000, true, 54_000],
  [57_999, true, 1001],
  [58_000, true, 1000],
  [59_000, true, 500],
  [59_999, true, 0.5],
  [60_000, true, 59_000],
  [90_000, true, 59_000],
  [5000, false, 59_000],
  [59_000, false, 59_000],
];
for (const [claimed_ms_ago, awaited, tried] of times) {
  const whose = awaited ? 'a request waits for' : 'no request waits for';
  test(`mails that ${whose}, claimed ${claimed_ms_ago} ms ago, have ${tried} ms`, () => {
    assert.equal(mailTime({ claimed_ms_ago, awaited }, 60_000), tried);
  });
}
