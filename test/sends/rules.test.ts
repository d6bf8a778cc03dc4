import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AddressFacts, judgeAll, readContact } from '../../src/sends/rules.ts';

const key = 'ann@people.test';
const clear: AddressFacts = {
  key,
  claim: null,
  mailed_or_answered: false,
  is_due: false,
  suppressed: null,
  erased: false,
  recent_at: null,
};

/** Facts that block a mail, strongest first. */
const against: [what: string, facts: Partial<AddressFacts>, code: string][] = [
  ['erased', { erased: true }, 'erased'],
  ['sent this survey', { claim: 'sent' }, 'already_sent'],
  ['being sent it', { claim: 'sending' }, 'in_flight'],
  ['claimed by another request', { claim: 'claimed' }, 'in_flight'],
  ['sent it with an unknown outcome', { claim: 'unknown' }, 'unknown_outcome'],
  ['a contact that has or answered it', { mailed_or_answered: true }, 'already_sent'],
  ['unsubscribed', { suppressed: 'unsubscribed' }, 'unsubscribed'],
  ['bounced', { suppressed: 'bounced' }, 'bounced'],
  ['sent another survey lately', { recent_at: new Date('2026-03-01T10:00:00Z') }, 'frequency'],
];

const judged = (facts: Partial<AddressFacts>) => {
  const all = new Map([[key, { ...clear, ...facts }]]);
  return judgeAll([readContact({ email: key })], all, 30)[0]!;
};

for (const [place, [what, facts, code]] of against.entries()) {
  test(`address that is ${what} is a duplicate: ${code}`, () => {
    assert.partialDeepStrictEqual(judged(facts), { status: 'duplicate', reason_code: code });
  });

  for (const [weaker, others] of against.slice(place + 1)) {
    if (Object.keys(facts)[0]! in others) continue;
    test(`address that is ${what} and ${weaker} is a duplicate: ${code}`, () => {
      const both = { ...others, ...facts };
      assert.deepEqual(judged(both), judged(facts));
    });
  }
}

test('address without a blocking rule is sent', () => {
  assert.ok('send' in judged({}));
  const unknown = judgeAll([readContact({ email: key })], new Map(), null);
  assert.ok('send' in unknown[0]!);
});

test('address listed twice in any case is sent once', () => {
  const submitted = [{ email: 'Ann@people.test' }, { email: key }].map(readContact);
  const [first, second] = judgeAll(submitted, new Map(), null);
  assert.ok('send' in first!);
  assert.partialDeepStrictEqual(second, { status: 'duplicate', reason_code: 'repeated' });
});

test('frequency reason names the rule and the last send', () => {
  assert.partialDeepStrictEqual(judged({ recent_at: new Date('2026-03-01T10:00:00Z') }), {
    reason: 'at most one survey in 30 days: the last one was sent on 2026-03-01',
  });
});
