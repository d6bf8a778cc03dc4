import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryAfter } from '../../../src/lib/outbound/post.ts';

const now = Date.UTC(1994, 10, 6, 8, 49, 7);
const headers: [header: string | string[] | undefined, seconds: number | null][] = [
  ['120', 120],
  [' 0 ', 0],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 30],
  ['Sat, 05 Nov 1994 08:49:37 GMT', 0],
  [undefined, null],
  [['1', '2'], null],
  ['', null],
  ['123456789', 123_456_789],
  ['soon', null],
  ['-3', null],
  ['0.5', null],
  ['Sun, 99 Foo 1994 08:49:37 GMT', null],
];
for (const [header, seconds] of headers) {
  test(`Retry-After ${JSON.stringify(header)} is ${seconds ?? 'not followed'}`, () => {
    assert.equal(parseRetryAfter(header, now), seconds);
  });
}
