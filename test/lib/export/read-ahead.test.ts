import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { exportResponse, type ListReader, readAhead } from '../../../src/lib/export/export.ts';

const rowsOfRange = 4;

/** A list of consecutive numbers. Reads fail after `failsAfter`. */
function makeList(many: number, failsAfter = Infinity) {
  const reads: number[] = [];
  let reader: ListReader | undefined;
  const parts = readAhead<number>(async (after, given) => {
    reader = given;
    const first = (after ?? 0) + 1;
    reads.push(first);
    await setImmediate();
    if (first > failsAfter) throw new Error('away');
    const last = Math.min(first + rowsOfRange - 1, many);
    const rows = Array.from({ length: last - first + 1 }, (_, at) => `${first + at} `);
    return { text: rows.join(''), last: rows.length === rowsOfRange ? last : undefined };
  });
  return { parts, reads, isGone: () => reader!.isGone() };
}

const someTurns = async () => {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
};

test('readAhead reads a list of any length in order', async () => {
  for (const many of [0, 1, 3, 4, 5, 8, 99]) {
    let text = '';
    for await (const part of makeList(many).parts) text += part;
    assert.equal(text, Array.from({ length: many }, (_, at) => `${at + 1} `).join(''));
  }
});

test('readAhead reads one range ahead, and no more while its reader waits', async () => {
  const { parts, reads } = makeList(99);
  assert.equal((await parts.next()).value, '1 2 3 4 ');
  await someTurns();
  assert.deepEqual(reads, [1, 5]);
});

test('readAhead reads nothing more once its reader has gone', async () => {
  const { parts, reads, isGone } = makeList(99);
  const body = exportResponse('csv', { name: 'numbers', parts }).body!.getReader();
  assert.equal(new TextDecoder().decode((await body.read()).value), '1 2 3 4 ');
  assert.equal(isGone(), false);
  await body.cancel();
  await someTurns();
  assert.equal(isGone(), true);
  assert.ok(reads.length <= 2);
});

test('readAhead fails after it has returned all earlier ranges', async () => {
  const { parts } = makeList(99, 4);
  assert.equal((await parts.next()).value, '1 2 3 4 ');
  await someTurns();
  await assert.rejects(parts.next(), /away/);
});
