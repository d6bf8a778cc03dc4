import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots } from '../../../src/lib/outbound/slots.ts';

function crowd(perHost: number) {
  const slots = createSlots(perHost);
  const started: string[] = [];
  const enter = (who: string, host = 'a') => slots.enter(host, () => started.push(who));
  return { started, enter };
}

test('who comes first starts first, one for each who leaves', () => {
  const { started, enter } = crowd(2);
  const leave = ['1', '2', '3', '4'].map((who) => enter(who));
  assert.deepEqual(started, ['1', '2']);

  leave[1]!();
  assert.deepEqual(started, ['1', '2', '3']);
  leave[0]!();
  assert.deepEqual(started, ['1', '2', '3', '4']);
});

test('a full host holds up no other', () => {
  const { started, enter } = crowd(1);
  enter('1');
  enter('2');
  enter('3', 'b');
  assert.deepEqual(started, ['1', '3']);
});

test('leaving the line lets nobody in and does not start later', () => {
  const { started, enter } = crowd(1);
  const leaveFirst = enter('1');
  const leaveSecond = enter('2');
  enter('3');

  leaveSecond();
  assert.deepEqual(started, ['1']);
  leaveFirst();
  assert.deepEqual(started, ['1', '3']);
});

test('leaving twice frees one place', () => {
  const { started, enter } = crowd(1);
  const leave = enter('1');
  enter('2');
  enter('3');

  leave();
  leave();
  assert.deepEqual(started, ['1', '2']);
});
