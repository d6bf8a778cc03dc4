import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createYieldToRequests } from '../../../src/lib/async/yield-to-requests.ts';

const { signal: never } = new AbortController();

test('background work begins when requests leave time to spare', async () => {
  const looks = [true, true, false];
  await createYieldToRequests(() => looks.shift()!)(never);
  assert.deepEqual(looks, []);
});

test('background work begins one piece each half second on a busy loop', async () => {
  const yieldToRequests = createYieldToRequests(() => true);
  const startedAt = performance.now();
  const begins = await Promise.all(
    [1, 2].map(() => yieldToRequests(never).then(() => performance.now() - startedAt)),
  );
  assert.ok(begins[0]! >= 480 && begins[1]! >= 960, String(begins));
});

test('background work that is given up does not hold up the next', async () => {
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
