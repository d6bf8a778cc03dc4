import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isRecoveryCode,
  recoveryCode,
  recoveryCodeBytes,
  recoveryCodeHash,
} from '../../src/members/codes.ts';

const code = recoveryCode(Buffer.alloc(recoveryCodeBytes, 0xa7));

test('a code has four groups of four letters and digits', () => {
  assert.match(code, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
});

for (const typed of [
  code.toUpperCase(),
  code.replaceAll('-', ''),
  ` ${code.replaceAll('-', ' ')} `,
]) {
  test(`"${typed}" is the same code`, () => {
    assert.ok(isRecoveryCode(typed));
    assert.deepEqual(recoveryCodeHash('ann', typed), recoveryCodeHash('ann', code));
  });
}

test('the code of one member is no code of another', () => {
  assert.notDeepEqual(recoveryCodeHash('ann', code), recoveryCodeHash('bob', code));
});

test('six digits are no recovery code', () => {
  assert.equal(isRecoveryCode('123 456'), false);
});
