import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainLine, oneLine } from '../../../src/lib/validation/parse.ts';

test('a line keeps its joiners and loses what breaks it or turns it around', () => {
  assert.ok(isPlainLine('Zoë 👩‍👩‍👧 نمی‌خواهم'));
  for (const bad of ['a\nb', 'a\u0085b', 'a\u202eb', 'a\0b', 'a\u2028b', '\ud800']) {
    assert.ok(!isPlainLine(bad), JSON.stringify(bad));
  }
  assert.equal(oneLine(' How\r\nare\u202e you? '), 'How are you?');
});

/** The first and the last of each range, and their neighbours. */
const edges: [refused: readonly number[], kept: readonly number[]][] = [
  [
    [0x0, 0x1f, 0x7f, 0x9f],
    [0x20, 0x7e, 0xa0],
  ],
  [
    [0x2028, 0x2029, 0x202a, 0x202e],
    [0x2027, 0x202f],
  ],
  [
    [0x2066, 0x2069],
    [0x2065, 0x206a],
  ],
  [
    [0xfdd0, 0xfdef, 0xfffe, 0xffff],
    [0xfdcf, 0xfdf0, 0xfffd],
  ],
];
for (const [refused, kept] of edges) {
  const named = refused.map((code) => `U+${code.toString(16)}`).join(', ');
  test(`a line has none of ${named}, and their neighbours`, () => {
    const isKept = (code: number) => isPlainLine(`a${String.fromCodePoint(code)}b`);
    assert.deepEqual(refused.filter(isKept), []);
    assert.deepEqual(
      kept.filter((code) => !isKept(code)),
      [],
    );
  });
}
