import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkContact, complainOfProperties } from '../../src/contacts/rules.ts';

/** `{"x":"..."}` of so many bytes. */
const ofBytes = (bytes: number) => ({ x: 'a'.repeat(bytes - '{"x":""}'.length) });
const nested = (levels: number): object => (levels === 1 ? {} : { inner: nested(levels - 1) });

const properties: [why: string, value: object, fits: boolean][] = [
  ['nothing', {}, true],
  ['everything JSON has', { a: [1, 'b', null, true], c: { d: 1.5 } }, true],
  ['16384 bytes', ofBytes(16_384), true],
  ['16385 bytes', ofBytes(16_385), false],
  ['16385 bytes in fewer characters', { x: `${'é'.repeat(8188)}a` }, false],
  ['32 levels', nested(32), true],
  ['33 levels', nested(33), false],
  ['5000 levels', nested(5000), false],
  ['NUL in a value', { a: ['b\u0000'] }, false],
  ['NUL in a name', { 'a\u0000': 1 }, false],
  ['half a surrogate pair', { a: '\ud800' }, false],
  ['the text of an escaped NUL', { a: '\\u0000' }, true],
  ['a field named __proto__', JSON.parse('{"a": {"__proto__": {}}}'), false],
  ['a number that is no longer one', { a: Number.POSITIVE_INFINITY }, false],
  ['a list in place of an object', [], false],
];
for (const [why, value, fits] of properties) {
  test(`custom fields with ${why} ${fits ? 'can' : 'cannot'} be kept`, () => {
    const complaint = complainOfProperties(value as Record<string, unknown>);
    assert.equal(complaint === undefined, fits);
  });
}

const names: [why: string, name: unknown, kept: string | null | undefined][] = [
  ['none', undefined, null],
  ['null', null, null],
  ['spaces alone', '  ', null],
  ['spaces around it', ' Ann ', 'Ann'],
  ['200 characters', 'a'.repeat(200), 'a'.repeat(200)],
  ['200 characters of two units each', '👩'.repeat(200), '👩'.repeat(200)],
  ['201 characters', 'a'.repeat(201), undefined],
  ['a joiner', 'می‌خواهم', 'می‌خواهم'],
  ['a line end', 'Ann\nBcc: x', undefined],
  ['a C1 control character', 'Ann\u0085', undefined],
  ['a mark that turns the direction around', 'Ann\u202e', undefined],
  ['NUL', 'Ann\u0000', undefined],
  ['half a surrogate pair', 'Ann\ud800', undefined],
  ['a number', 7, undefined],
];
for (const [why, name, kept] of names) {
  test(`a contact's name with ${why} is ${kept === undefined ? 'refused' : 'kept'}`, () => {
    const checked = checkContact({ email: 'ann@people.test', name });
    if (kept === undefined) assert.equal('field' in checked && checked.field, 'name');
    else assert.equal('name' in checked && checked.name, kept);
  });
}
