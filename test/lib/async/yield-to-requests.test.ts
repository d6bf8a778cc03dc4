import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createYieldToRequests } from '../../../src/lib/async/yield-to-requests.ts';

const { signal: never } = new AbortController();

test('background work starts when the event loop is idle', async () => {
  const looks = [true, true, false];
  await createYieldToRequests(() => looks.shift()!)(never);
  assert.deepEqual(looks, []);
});

test('background work starts every half second on a busy loop', async () => {
  const yieldToRequests = createYieldToRequests(() => true);
  const startedAt = performance.now();
  const begins = await Promise.all(
    [1, 2].map(() => yieldToRequests(never).then(() => performance.now() - startedAt)),
  );
  assert.ok(begins[0]! >= 480 && begins[1]! >= 960, String(begins));
});

test('aborted background work does not block the next piece', async () => {
  let isBusy = true;
  const yieldToRequests = createYieldToRequests(() => isBusy);
  const stopping = new AbortController();
  const given = yieldToRequests(stopping.signal);
  const next = yieldToRequests(never);
  const reason = new Error('the process stops');
  stopping.abort(reason);
  await assert.rejects(given, reason);
  isBusy = false;
  await next;
});
