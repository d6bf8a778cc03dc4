import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tidy } from '../../../src/lib/smtp/connection.ts';

test('of what a server says 500 characters are kept on one line, none of them in half', () => {
  assert.equal(tidy(' 550-no\r\n\t550 \0no '), '550-no 550 no');
  assert.equal(tidy('x'.repeat(500)), 'x'.repeat(500));
  assert.equal(tidy('x'.repeat(501)), 'x'.repeat(500));
  assert.equal(tidy(`${'x'.repeat(498)}😀`), `${'x'.repeat(498)}😀`);
  assert.equal(tidy(`${'x'.repeat(499)}😀`), `${'x'.repeat(499)}\ufffd`);
});
