import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEmbedProperties } from '../../src/responses/rules.ts';

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [`p${place}`, place]));
const long = (length: number) => '👩'.repeat(length);

const cases: [what: string, given: unknown, kept: object | null][] = [
  ['an object', { plan: 'pro', seats: 3, paid: true }, { plan: 'pro', seats: 3, paid: true }],
  ['the text of an object', '{"plan":"pro"}', { plan: 'pro' }],
  ['incomplete JSON', '{"plan"', null],
  ['nothing', undefined, null],
  ['a list', ['a'], null],
  ['an empty object', {}, null],
  ['what is no plain value', { a: null, b: {}, c: [], d: Number.NaN, e: 1 }, { e: 1 }],
  ['twenty properties', many(20), many(20)],
  ['more of them', many(25), many(20)],
  ['the longest name and value', { [long(200)]: long(500) }, { [long(200)]: long(500) }],
  ['a name that is too long', { [long(201)]: 1, a: 1 }, { a: 1 }],
  ['a value that is too long', { a: long(501), b: 1 }, { b: 1 }],
  ['no name', { '': 1, a: 1 }, { a: 1 }],
  ['a name that objects have', '{"__proto__":1,"a":1}', { a: 1 }],
  ['NUL and half a character', { 'a\0': 1, '\ud800': 1, b: '\0', c: '\ud800', d: 1 }, { d: 1 }],
];
for (const [what, given, kept] of cases) {
  test(`readEmbedProperties: ${what}`, () => assert.deepEqual(readEmbedProperties(given), kept));
}
