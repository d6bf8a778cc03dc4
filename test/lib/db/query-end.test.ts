import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EndingQuery, onEnd } from '../../../src/lib/db/query-end.ts';

function follow(query: EndingQuery) {
  const seen: unknown[] = [];
  onEnd(query, { ended: (ended, error) => seen.push(['first', ended === query, error]) });
  onEnd(query, { ended: (_, error) => seen.push(['second', true, error]) });
  return seen;
}

test('all that asked are called once when a query has ended, without an error when it has succeeded', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const seen = follow(promise);
  assert.deepEqual(seen, []);
  resolve([{ n: 1 }]);
  await promise;
  assert.deepEqual(seen, [
    ['first', true, undefined],
    ['second', true, undefined],
  ]);
});

test('a query that fails gives its error to all that asked, and still to its caller', async () => {
  const { promise, reject } = Promise.withResolvers<unknown>();
  const seen = follow(promise);
  const error = new Error('division by zero');
  reject(error);
  await assert.rejects(promise, error);
  assert.deepEqual(seen, [
    ['first', true, error],
    ['second', true, error],
  ]);
});
