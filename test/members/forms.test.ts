import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { NewPasswordField, PasswordField } from '../../src/members/invite.ts';

for (const [what, field] of Object.entries({ PasswordField, NewPasswordField })) {
  test(`${what} takes a thousand characters, and no more`, () => {
    assert.ok(v.safeParse(field, 'x'.repeat(1000)).success);
    const { issues } = v.safeParse(field, 'x'.repeat(1001));
    assert.deepEqual(
      issues?.map(({ message }) => message),
      ['The password is too long.'],
    );
  });
}
