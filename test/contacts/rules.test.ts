import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complainOfProperties } from '../../src/contacts/rules.ts';

/** `{"x":"..."}` of so many bytes. */
const ofBytes = (bytes: number) => ({ x: 'a'.repeat(bytes - '{"x":""}'.length) });
const nested = (levels: number): object => (levels === 1 ? {} : { inner: nested(levels - 1) });

const properties: [why: string, value: object, fits: boolean][] = [
  ['nothing', {}, true],
  ['everything JSON has', { a: [1, 'b', null, true], c: { d: 1.5 } }, true],
  ['16384 bytes', ofBytes(16_384), true],
  ['16385 bytes', ofBytes(16_385), false],
  ['32 levels', nested(32), true],
  ['33 levels', nested(33), false],
  ['5000 levels', nested(5000), false],
  ['NUL in a value', { a: ['b\u0000'] }, false],
  ['NUL in a name', { 'a\u0000': 1 }, false],
  ['half a surrogate pair', { a: '\ud800' }, false],
  ['the text of an escaped NUL', { a: '\\u0000' }, true],
];
for (const [why, value, fits] of properties) {
  test(`custom fields with ${why} ${fits ? 'can' : 'cannot'} be kept`, () => {
    const complaint = complainOfProperties(value as Record<string, unknown>);
    assert.equal(complaint === undefined, fits);
  });
}
