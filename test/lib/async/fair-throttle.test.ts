import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFairThrottle } from '../../../src/lib/async/fair-throttle.ts';
import { handClock } from '../../support/fakes/clock.ts';

function recorded(perSecond: number | null) {
  const { clock, runAll, pending } = handClock();
  const throttle = createFairThrottle({ perSecond, clock });
  const started: { name: string; at: number }[] = [];
  const enter = (name: string, signal?: AbortSignal) =>
    throttle.turn(name[0]!, signal).then(() => started.push({ name, at: clock.now() }));
  return { throttle, clock, started, enter, runAll, pending };
}

test('groups take turns at a limited rate', async () => {
  const { started, enter, runAll } = recorded(10);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void enter(name);
  await runAll();
  const names = started.map(({ name }) => name);
  assert.deepEqual(names, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('without a rate nothing waits but for a pause', async () => {
  const { throttle, clock, started, enter, runAll } = recorded(null);
  await enter('a1');
  throttle.pause(500);
  const resumed = clock.now() + 500;
  void enter('a2');
  void enter('b1');
  await runAll();
  assert.deepEqual(
    started.map(({ name, at }) => [name, at]),
    [
      ['a1', resumed - 500],
      ['a2', resumed],
      ['b1', resumed],
    ],
  );
});

test('a pause lasts as long as the longest that was asked for', async () => {
  for (const [pauses, longest] of [
    [[500, 100], 500],
    [[100, 500], 500],
  ] as const) {
    const { throttle, clock, started, enter, runAll } = recorded(null);
    const begun = clock.now();
    for (const ms of pauses) throttle.pause(ms);
    void enter('a1');
    await runAll();
    assert.deepEqual(started, [{ name: 'a1', at: begun + longest }]);
  }
});

test('the rate is kept to although timers are late, and not made up for much more', async () => {
  for (const [lateMs, leastMs, mostMs] of [
    [0, 970, 1000],
    [15, 970, 1000],
    [100, 3000, 4000],
  ] as const) {
    const { clock: hand, runAll } = handClock();
    const clock = {
      ...hand,
      after: (ms: number, call: () => void) => hand.after(ms + lateMs, call),
    };
    const throttle = createFairThrottle({ perSecond: 100, clock });
    const begun = clock.now();
    const turns = Array.from({ length: 101 }, () => throttle.turn('a'));
    await runAll();
    await Promise.all(turns);
    const took = clock.now() - begun;
    assert.ok(took >= leastMs && took <= mostMs, `${took} ms with timers ${lateMs} ms late`);
  }
});

test('an aborted wait rejects with the reason and leaves no timer', async () => {
  const { throttle, enter, pending } = recorded(1);
  await enter('a1');
  const giveUp = new AbortController();
  const waiting = enter('a2', giveUp.signal);
  giveUp.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  assert.equal(pending(), 0);
  assert.deepEqual(throttle.counts(), { waiting: 0, groups: 0 });
});

test('whatever arrives, the rate holds, all start, and the order inside a group is kept', async () => {
  const arrivals = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 40, maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 30 }), arrivals, async (perSecond, groups) => {
      const { started, enter, runAll } = recorded(perSecond);
      for (const [at, group] of groups.entries()) void enter(`${group}${at}`);
      await runAll();
      assert.equal(started.length, groups.length);
      for (const [at, { at: time }] of started.entries()) {
        const inTime = started.slice(at).filter((later) => later.at < time + 1000).length;
        assert.ok(inTime <= perSecond * 1.02 + 1.6, `${inTime} started within a second`);
      }
      for (const one of new Set(groups)) {
        const own = started.filter(({ name }) => name[0] === one).map(({ name }) => +name.slice(1));
        assert.deepEqual(
          own,
          own.toSorted((a, b) => a - b),
        );
      }
    }),
    { numRuns: 100 },
  );
});
