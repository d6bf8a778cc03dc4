import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutLot } from './scene/names.ts';

test('a link that was drawn by lot is left out whatever its last letter is', () => {
  for (const share of ['jxRve0QrFWgMHXKa', 'jxRve0QrFWgMHXK-', 'jxRve0QrFWgMHXK_']) {
    assert.equal(
      withoutLot(`at https://askback.test/f/${share}\n`),
      'at https://askback.test/f/LOT\n',
    );
    assert.equal(withoutLot(`/f/${share}"`), '/f/LOT"');
  }
});
