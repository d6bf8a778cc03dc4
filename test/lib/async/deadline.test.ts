import assert from 'node:assert/strict';
import { getActiveResourcesInfo } from 'node:process';
import { test } from 'node:test';
import { unlessAborted, withinMs } from '../../../src/lib/async/deadline.ts';

const never = new Promise<string>(() => {});
const timers = () => getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('withinMs returns the result in time and leaves no timer', async () => {
  const before = timers();
  assert.equal(await withinMs(Promise.resolve('fine'), 60_000, () => 'late'), 'fine');
  await assert.rejects(
    withinMs(Promise.reject(new Error('no')), 60_000, () => 'late'),
    /no/,
  );
  assert.equal(timers(), before);
});

test('withinMs returns or throws the result of onLate after the timeout', async () => {
  assert.equal(await withinMs(never, 1, () => 'late'), 'late');
  const failing = withinMs(never, 1, () => {
    throw new Error('too late');
  });
  await assert.rejects(failing, /too late/);
});

test('unlessAborted resolves early if the signal aborts first', async () => {
  const stop = new AbortController();
  const waiting = unlessAborted(never, stop.signal, () => 'aborted');
  const early = await unlessAborted(Promise.resolve('fine'), stop.signal, () => 'aborted');
  stop.abort();
  assert.deepEqual([early, await waiting], ['fine', 'aborted']);
  assert.equal(await unlessAborted(never, stop.signal, () => 'aborted'), 'aborted');
  assert.equal(await unlessAborted(Promise.resolve('fine'), undefined, () => 'aborted'), 'fine');
});
