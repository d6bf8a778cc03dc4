import assert from 'node:assert/strict';
import { test } from 'node:test';
import { facetsOf, propertyParameter, readProperties } from '../../src/home/rules.ts';

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`property.p${n}`, ['x']]));

const read: [string, Record<string, string[]>, object][] = [
  ['a parameter', { 'property.plan': ['pro'] }, { 'property.plan': 'pro' }],
  ['the last of several', { 'property.plan': ['a', 'b'] }, { 'property.plan': 'b' }],
  ['no value', { 'property.plan': [''] }, {}],
  ['no name', { 'property.': ['pro'] }, {}],
  ['another parameter', { plan: ['pro'], 'my.property.x': ['y'] }, {}],
  ['eleven', many(11), Object.fromEntries(Object.keys(many(10)).map((key) => [key, 'x']))],
];

for (const [fact, queries, properties] of read) {
  test(`a query with properties is read: ${fact}`, () =>
    assert.deepEqual(readProperties(queries), properties));
}

test('properties become filters of the list, and back', () => {
  const parameter = propertyParameter('plan');
  assert.equal(parameter, 'property.plan');
  assert.deepEqual(facetsOf({ [parameter]: 'pro' }), [
    { kind: 'property', name: 'plan', value: 'pro' },
  ]);
});
