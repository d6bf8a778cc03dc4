import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  base32,
  formatSecret,
  isRecoveryCode,
  recoveryCode,
  recoveryCodeBytes,
  recoveryCodeHash,
  totpCode,
  totpStep,
  totpUrl,
} from '../../src/members/codes.ts';

/** Secret and times of RFC 6238, appendix B. Its codes have eight digits, ours are the last six. */
const secret = Buffer.from('12345678901234567890');
const atStep = (step: number, ms = 0) => new Date(step * 30_000 + ms);

test('totpCode returns the codes of RFC 6238', () => {
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [20_000_000_000, '353130'],
  ] as const) {
    assert.equal(totpCode(secret, Math.floor(seconds / 30)), code);
  }
});

test('totpStep accepts a code one step early or late, but not two', () => {
  const code = totpCode(secret, 1000);
  const taken = [998, 999, 1000, 1001, 1002].map((step) =>
    totpStep({ secret, code, at: atStep(step, 29_999), lastStep: null }),
  );
  assert.deepEqual(taken, [null, 1000, 1000, 1000, null]);
});

test('totpStep accepts a code once, and no earlier one afterwards', () => {
  const proof = (step: number, lastStep: number) =>
    totpStep({ secret, code: totpCode(secret, step), at: atStep(1000), lastStep });
  assert.deepEqual([proof(1000, 1000), proof(999, 1000), proof(1001, 1000)], [null, null, 1001]);
});

test('totpStep accepts a code with spaces and rejects other text', () => {
  const read = (code: string) => totpStep({ secret, code, at: atStep(1000), lastStep: null });
  const code = totpCode(secret, 1000);
  assert.equal(read(` ${code.slice(0, 3)} ${code.slice(3)} `), 1000);
  for (const wrong of ['', '000', `${code}7`, 'abcdef', '١٢٣٤٥٦']) assert.equal(read(wrong), null);
});

test('base32 follows RFC 4648 without padding', () => {
  for (const [plain, encoded] of [
    ['', ''],
    ['f', 'MY'],
    ['foob', 'MZXW6YQ'],
    ['foobar', 'MZXW6YTBOI'],
  ] as const) {
    assert.equal(base32(Buffer.from(plain)), encoded);
  }
  assert.equal(formatSecret(secret), 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ');
});

test('totpUrl contains the account, the issuer and the secret', () => {
  const url = new URL(totpUrl(secret, 'ann+x@acme.test', 'askback at acme'));
  assert.equal(decodeURIComponent(url.pathname), '/askback at acme:ann+x@acme.test');
  const wanted = { secret: base32(secret), issuer: 'askback at acme', digits: '6', period: '30' };
  assert.partialDeepStrictEqual(Object.fromEntries(url.searchParams), wanted);
});

test('recovery codes ignore case and hyphens', () => {
  const code = recoveryCode(Buffer.alloc(recoveryCodeBytes, 0xa7));
  assert.match(code, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  const bare = code.replaceAll('-', '');
  for (const typed of [code.toUpperCase(), bare, ` ${code.replaceAll('-', ' ')} `]) {
    assert.ok(isRecoveryCode(typed));
    assert.deepEqual(recoveryCodeHash('ann', typed), recoveryCodeHash('ann', code));
  }
  assert.notDeepEqual(recoveryCodeHash('ann', code), recoveryCodeHash('bob', code));
  assert.equal(isRecoveryCode('123 456'), false);
});
