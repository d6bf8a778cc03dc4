import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGiveWay } from '../../../src/lib/async/give-way.ts';
import { handClock } from '../../support/fakes/clock.ts';

const never = new AbortController().signal;

/** When the work began, in milliseconds, while the loop was busy as the list says, one entry for each look. */
async function beganAfter(shares: number[]) {
  const { clock, runAll } = handClock();
  const begun = clock.now();
  const giveWay = createGiveWay({ busyShare: () => shares.shift() ?? 1, clock });
  const work = giveWay(never).then(() => clock.now() - begun);
  await runAll();
  return await work;
}

test('work begins at once while the event loop has time to spare', async () => {
  assert.equal(await beganAfter([0.6]), 0);
});

test('work waits while requests keep the event loop busy, and begins when they do not', async () => {
  assert.equal(await beganAfter([0.61, 0.9, 0.2]), 100);
});

test('work begins after half a second on a loop that stays busy', async () => {
  assert.equal(await beganAfter([]), 500);
});

test('on a loop that stays busy work begins piece by piece, in the order of its arrival', async () => {
  const { clock, runAll } = handClock();
  const begun = clock.now();
  const giveWay = createGiveWay({ busyShare: () => 1, clock });
  const begins: string[] = [];
  const works = ['one', 'two', 'three'].map((name) =>
    giveWay(never).then(() => begins.push(`${name} ${clock.now() - begun}`)),
  );
  await runAll();
  await Promise.all(works);
  assert.deepEqual(begins, ['one 500', 'two 1000', 'three 1500']);
});

test('work that is given up does not hold up what comes after it', async () => {
  const { clock, runAll } = handClock();
  const begun = clock.now();
  const giveWay = createGiveWay({ busyShare: () => 1, clock });
  const stopping = new AbortController();
  const given = giveWay(stopping.signal);
  const next = giveWay(never).then(() => clock.now() - begun);
  stopping.abort(new Error('given up'));
  await assert.rejects(given, /given up/);
  await runAll();
  assert.equal(await next, 500);
});

test('a look is good for 50 ms: many that begin together ask once', async () => {
  const { clock } = handClock();
  let looks = 0;
  const giveWay = createGiveWay({
    busyShare: () => {
      looks += 1;
      return 0;
    },
    clock,
  });
  for (let at = 0; at < 10; at += 1) await giveWay(never);
  assert.equal(looks, 1);
});

test('work that waits ends with the reason of its signal, and leaves no timer', async () => {
  const { clock, pending } = handClock();
  const giveWay = createGiveWay({ busyShare: () => 1, clock });
  const stopping = new AbortController();
  const waiting = giveWay(stopping.signal);
  const reason = new Error('the process stops');
  stopping.abort(reason);
  await assert.rejects(waiting, reason);
  await assert.rejects(giveWay(stopping.signal), reason);
  assert.equal(pending(), 0);
});
