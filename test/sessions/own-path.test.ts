import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownPath, withNext } from '../../src/sessions/session.ts';

for (const path of [
  '/o/acme/',
  '/o/acme/responses?tag=a&tag=b',
  '/account#keys',
  '/?next=//x',
  `/${'a'.repeat(1999)}`,
]) {
  test(`ownPath accepts ${path.slice(0, 40)}`, () => assert.equal(ownPath(path), path));
}

for (const path of [
  '//evil.test',
  '/\\evil.test',
  '\\/evil.test',
  'https://evil.test/',
  'evil',
  '',
  undefined,
  '/\t/evil.test',
  '/\n/evil.test',
  '/a/..//evil.test',
  '/.//evil.test',
  'javascript:alert(1)',
  ...['/%0d%0aSet-Cookie: a', `/${'a'.repeat(2000)}`].slice(1),
]) {
  test(`ownPath rejects ${String(path).slice(0, 40)}`, () => assert.equal(ownPath(path), '/'));
}

test('withNext adds the path unless it is home', () => {
  assert.equal(withNext('/sign-in', '/o/a/?x=1&y=2'), '/sign-in?next=%2Fo%2Fa%2F%3Fx%3D1%26y%3D2');
  assert.equal(withNext('/sign-in', '/'), '/sign-in');
});
