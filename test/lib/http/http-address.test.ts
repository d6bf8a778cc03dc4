import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpAddress, isLoopbackHost } from '../../../src/lib/http/http-address.ts';

const loopback = [
  'localhost',
  'LOCALHOST',
  'a.localhost',
  '127.0.0.1',
  '127.9.9.9',
  '::1',
  '[::1]',
  '::ffff:127.0.0.1',
];
const elsewhere = ['localhost.example.com', '127.example.com', '0.0.0.0', '::', '10.0.0.1', ''];

for (const host of loopback) {
  test(`'${host}' is this machine`, () => assert.equal(isLoopbackHost(host), true));
}

for (const host of elsewhere) {
  test(`'${host}' is not only this machine`, () => assert.equal(isLoopbackHost(host), false));
}

test('an IPv6 host has brackets in a URL', () => {
  assert.equal(httpAddress('::1', 8080), 'http://[::1]:8080');
  assert.equal(httpAddress('127.0.0.1', 80), 'http://127.0.0.1:80');
});
