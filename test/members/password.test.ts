import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import { checkPassword, hashPassword, validatePassword } from '../../src/members/password.ts';

const ann = { email: 'ann.lindgren@larkspur.test', name: 'Ann Lindgren' };
const here = { address: '192.0.2.1' };

for (const [password, why] of [
  ['elevenchars', /12 characters/],
  ['x'.repeat(501), /at most 500/],
  ['aaaaaaaaaaaa', /easy to guess/],
  ['abcdefghijkl', /easy to guess/],
  ['abcdqwer1234', /easy to guess/],
  ['Test-8375-test', /easy to guess/],
  ['Password1234!', /easy to guess/],
  ['P@ssw0rdP@ssw0rd', /easy to guess/],
  ['iloveyou2024!', /easy to guess/],
  ['1qaz2wsx3edc', /easy to guess/],
  ['AskBack-2026!', /easy to guess/],
  ['ann.lindgren@larkspur.test', /name or email/],
  ['Lindgren-2026', /name or email/],
  ['Lindgren-20-11', /name or email/],
  ['p7x2x7p2p7x2', /easy to guess/],
  ['lkjhgfdsapoi', /easy to guess/],
] as const) {
  test(`validatePassword rejects ${password.slice(0, 30)}`, () => {
    assert.match(validatePassword(password, ann) ?? 'taken', why);
  });
}

for (const password of [
  'glass heron tuesday',
  'vJ8#kdl2.pQx',
  'пароль для котика',
  '長い合言葉をここに書いておく',
  'monkey-dragon-kettle',
  'lindgren was a writer',
  'Lindgren-20-117',
  'abcdefqwe123xyz',
  'glass heron tuesday '.repeat(25),
]) {
  test(`validatePassword accepts ${password.slice(0, 30)}`, () => {
    assert.equal(validatePassword(password, ann), undefined);
  });
}

const spellings: [name: string, email: string, password: string][] = [
  ['Wilhelmina Q', 'q@b.test', 'wilhelmina-26'],
  ['Q', 'Wilhelmina@b.test', 'wilhelmina-26'],
  ['Q', 'Ann.Lee@Acme-Tools.Example', 'ann.lee@acme-tools.example!'],
  ['wilhelmina', 'q@b.test', 'WILHELMINA-26'],
];
for (const [name, email, password] of spellings) {
  test(`validatePassword rejects ${password} for ${name}, ${email}`, () => {
    assert.match(validatePassword(password, { name, email }) ?? 'taken', /name or email/);
    const other = { name: 'Bo', email: 'bo@bo.test' };
    assert.equal(validatePassword(password, other), undefined);
  });
}

test('passwords match by hash in any Unicode form', async () => {
  const hash = await hashPassword('crème brûlée at noon', here);
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  const decomposed = 'crème brûlée at noon'.normalize('NFD');
  assert.equal(await checkPassword(hash, decomposed, here), true);
  assert.equal(await checkPassword(hash, 'creme brulee at noon', here), false);
  assert.equal(await checkPassword(null, '', here), false);
  assert.equal(await checkPassword('not a hash', 'x', here), false);
  assert.notEqual(await hashPassword('crème brûlée at noon', here), hash);
});

test('hashing fifty passwords at once leaves the event loop free', async () => {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await Promise.all(Array.from({ length: 50 }, (_, n) => hashPassword(`password ${n}`, here)));
  delay.disable();
  assert.ok(delay.percentile(50) / 1e6 < 50, `${delay.percentile(50) / 1e6} ms`);
});
