import assert from 'node:assert/strict';
import { test } from 'node:test';
import { facetsOf, propertyParameter, readProperties } from '../../src/home/rules.ts';

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`property.p${n}`, ['x']]));
const wrong = 'Enter a property and a value, such as plan=pro.';
const tooMany = 'Filter by at most 10 properties.';

const read: [string, Record<string, string[]>, object, string | undefined][] = [
  ['a parameter', { 'property.plan': ['pro'] }, { 'property.plan': 'pro' }, undefined],
  ['the last of several', { 'property.plan': ['a', 'b'] }, { 'property.plan': 'b' }, undefined],
  ['the last typed one', { property: ['a=b', 'c=d'] }, { 'property.c': 'd' }, undefined],
  ['no value', { 'property.plan': [''] }, {}, undefined],
  ['no name', { 'property.': ['pro'] }, {}, undefined],
  ['another parameter', { plan: ['pro'], 'my.property.x': ['y'] }, {}, undefined],
  ['a typed one', { property: [' plan = pro '] }, { 'property.plan': 'pro' }, undefined],
  [
    'the first = as the end of the name',
    { property: ['a=b=c'] },
    { 'property.a': 'b=c' },
    undefined,
  ],
  ['nothing typed', { property: [''] }, {}, undefined],
  ['typed without =', { property: ['plan'], 'property.x': ['y'] }, { 'property.x': 'y' }, wrong],
  ['typed without a value', { property: ['plan='] }, {}, wrong],
  ['typed without a name', { property: [' =pro'] }, {}, wrong],
  ['ten', many(10), Object.fromEntries(Object.keys(many(10)).map((key) => [key, 'x'])), undefined],
  ['eleven', many(11), {}, tooMany],
  ['ten and a typed one', { ...many(10), property: ['plan=pro'] }, {}, tooMany],
];

for (const [fact, queries, properties, error] of read) {
  test(`a query with properties is read: ${fact}`, () => {
    const found = readProperties(queries);
    assert.deepEqual(found.properties, properties);
    assert.deepEqual(found.errors, error ? { property: error } : {});
    assert.deepEqual(found.typed, error ? { property: queries['property']?.at(-1) ?? '' } : {});
  });
}

test('properties become filters of the list, and back', () => {
  const parameter = propertyParameter('plan');
  assert.equal(parameter, 'property.plan');
  assert.deepEqual(facetsOf({ [parameter]: 'pro' }), [
    { kind: 'property', name: 'plan', value: 'pro' },
  ]);
});
