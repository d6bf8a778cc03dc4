import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortPassedSockets } from '../../../src/lib/http/listen.ts';

const none = { count: 0, pid: null, names: [] };

test('passed sockets begin at descriptor 3 and are sorted by name', () => {
  const sort = (count: number, ...names: string[]) =>
    sortPassedSockets({ count, pid: 7, names }, 7);
  assert.deepEqual(sort(1), { requests: [3], metrics: [] });
  assert.deepEqual(sort(3, 'metrics'), { requests: [4, 5], metrics: [3] });
  assert.deepEqual(sort(3, 'web', 'metrics', 'web'), { requests: [3, 5], metrics: [4] });
});

test('sockets of another process are refused', () => {
  assert.match(
    String(sortPassedSockets({ ...none, count: 1, pid: 6 }, 7)),
    /for the process 6 and/,
  );
  assert.match(String(sortPassedSockets({ ...none, count: 1 }, 7)), /for the process null and/);
  assert.deepEqual(sortPassedSockets(none, 7), { requests: [], metrics: [] });
  assert.deepEqual(sortPassedSockets({ ...none, pid: 6 }, 7), { requests: [], metrics: [] });
});
