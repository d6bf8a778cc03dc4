import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createThrottle } from '../../../src/lib/smtp/pool.ts';

test('messages that are accepted after a complaint earn places back, one after the other, and no more than there were', async () => {
  const throttle = createThrottle({ connections: 8, messagesPerSecond: null });
  const send = async (ending: 'asked_for_less' | 'fine') => {
    const leave = await throttle.enter('a');
    leave!(ending);
    return throttle.state().limit;
  };
  assert.equal(await send('asked_for_less'), 4);
  const limits: number[] = [];
  for (let message = 0; message < 30; message++) limits.push(await send('fine'));
  const steps = [...new Set(limits)];
  assert.deepEqual(steps, [4, 5, 6, 7, 8]);
  assert.deepEqual(limits, limits.toSorted());
});

test('the pauses of a server that asks for less grow to half a minute and no further', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const throttle = createThrottle({ connections: 1, messagesPerSecond: null });
  const pauses: number[] = [];
  for (let complaint = 0; complaint < 9; complaint++) {
    const leave = await throttle.enter('a');
    leave!('asked_for_less');
    const next = throttle.enter('a');
    let entered = false;
    void next.then(() => {
      entered = true;
    });
    const began = now;
    while (!entered) {
      now += 500;
      t.mock.timers.tick(500);
      await new Promise(setImmediate);
    }
    pauses.push(now - began);
    (await next)!('failed');
  }
  assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});
