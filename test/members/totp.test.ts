import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base32, totpCode, totpStep, totpUrl, typedSecret } from '../../src/members/codes.ts';

/** The secret and the times of RFC 6238, appendix B, of whose eight digits ours are the last six. */
const secret = Buffer.from('12345678901234567890');
const examples: [seconds: number, code: string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
];
const atStep = (step: number, ms = 0) => new Date(step * 30_000 + ms);

for (const [seconds, code] of examples) {
  test(`the code at ${seconds} seconds is the one of RFC 6238`, () => {
    assert.equal(totpCode(secret, Math.floor(seconds / 30)), code);
  });
}

test('a code is taken one step early and one step late, and not two', () => {
  const code = totpCode(secret, 1000);
  const taken = [998, 999, 1000, 1001, 1002].map((step) =>
    totpStep({ secret, code, at: atStep(step, 29_999), lastStep: null }),
  );
  assert.deepEqual(taken, [null, 1000, 1000, 1000, null]);
});

test('a code is taken once, and none before it afterwards', () => {
  const proof = (step: number, lastStep: number) =>
    totpStep({ secret, code: totpCode(secret, step), at: atStep(1000), lastStep });
  assert.equal(proof(1000, 1000), null);
  assert.equal(proof(999, 1000), null);
  assert.equal(proof(1001, 1000), 1001);
});

test('a code may be typed with a space in it, as apps show it', () => {
  const code = totpCode(secret, 1000);
  const typed = ` ${code.slice(0, 3)} ${code.slice(3)} `;
  assert.equal(totpStep({ secret, code: typed, at: atStep(1000), lastStep: null }), 1000);
});

for (const code of ['', '000', '1234567', 'abcdef', '١٢٣٤٥٦']) {
  test(`"${code}" is no code`, () => {
    assert.equal(totpStep({ secret, code, at: atStep(1000), lastStep: null }), null);
  });
}

test('base32 is the one of RFC 4648, without padding', () => {
  const pairs = [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ];
  for (const [plain, encoded] of pairs) assert.equal(base32(Buffer.from(plain!)), encoded);
});

test('the address for an app carries the account, the issuer and the secret', () => {
  const url = new URL(totpUrl({ secret, email: 'ann+x@acme.test', issuer: 'askback at acme' }));
  assert.equal(decodeURIComponent(url.pathname), '/askback at acme:ann+x@acme.test');
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    secret: base32(secret),
    issuer: 'askback at acme',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
});

test('a secret is shown in groups of four', () => {
  assert.equal(typedSecret(secret), 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ');
});
