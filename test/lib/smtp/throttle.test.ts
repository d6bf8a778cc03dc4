import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withinMs } from '../../../src/lib/async/deadline.ts';
import { createThrottle } from '../../../src/lib/smtp/throttle.ts';

test('a server that asks for less again and again gets pauses that grow, and a place after each', async () => {
  const throttle = createThrottle({ connections: 8, messagesPerSecond: null, firstPauseMs: 10 });
  const limits: number[] = [];
  const began = performance.now();
  for (let complaint = 0; complaint < 4; complaint++) {
    const leave = await withinMs(throttle.enter('a'), 5000, () => assert.fail('the pause is long'));
    leave!('asked_for_less');
    limits.push(throttle.state().limit);
  }
  assert.deepEqual(limits, [4, 2, 1, 1]);
  assert.ok(performance.now() - began >= 10 + 20 + 40);
});
