import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complainOfProperties, isEmail } from '../../src/contacts/rules.ts';

const addresses = [
  'ann@acme.test',
  "o'brien+tag@mail.acme.test",
  'a.b-c_d@xn--bcher-kva.example',
  `${'a'.repeat(64)}@acme.test`,
  `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(55)}.test`,
];
for (const address of addresses) {
  test(`${address.slice(0, 40)} is an address`, () => assert.equal(isEmail(address), true));
}

const others = [
  '',
  'ann',
  '@acme.test',
  'ann@',
  'ann@localhost',
  'ann@acme..test',
  'ann@-acme.test',
  'ann@127.0.0.1',
  '.ann@acme.test',
  'ann.@acme.test',
  'a..b@acme.test',
  'ann b@acme.test',
  'ann@acme.test\n',
  'ann@acme.test\r\nBcc: eve@evil.test',
  'Ann <ann@acme.test>',
  '"ann"@acme.test',
  'ann@acme.test,eve@evil.test',
  'ann@eve@acme.test',
  `${'a'.repeat(65)}@acme.test`,
  `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(56)}.test`,
];
for (const text of others) {
  test(`${JSON.stringify(text).slice(0, 40)} is no address`, () =>
    assert.equal(isEmail(text), false));
}

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
