import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainLine, oneLine } from '../../../src/lib/validation/plain-line.ts';

test('a line keeps its joiners and loses what breaks it or turns it around', () => {
  assert.ok(isPlainLine('Zoë 👩‍👩‍👧 نمی‌خواهم'));
  for (const bad of ['a\nb', 'a\u0085b', 'a\u202eb', 'a\0b', 'a\u2028b', '\ud800']) {
    assert.ok(!isPlainLine(bad), JSON.stringify(bad));
  }
  assert.equal(oneLine(' How\r\nare\u202e you? '), 'How are you?');
});
