import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isOver,
  type PartitionedTable,
  stretchAt,
  stretchesAhead,
  stretchesKept,
  stretchNamed,
} from '../../../src/lib/db/partition-stretches.ts';

const divided: PartitionedTable = {
  table: 'visits',
  column: 'at',
  bound: 'timestamptz',
  stretchDays: 10,
  keptDays: 30,
};
const at = (time: string) => new Date(time);
const names = (stretches: readonly { name: string }[]) => stretches.map(({ name }) => name);

test('a stretch is named after its first day, and begins and ends at midnight UTC', () => {
  assert.deepEqual(stretchAt(divided, at('2026-11-20T12:00:00Z')), {
    name: 'visits_2026_11_13',
    from: at('2026-11-13T00:00:00Z'),
    to: at('2026-11-23T00:00:00Z'),
  });
});

test('a stretch has its first moment and not its last', () => {
  assert.equal(stretchAt(divided, at('2026-11-12T23:59:59.999Z')).name, 'visits_2026_11_03');
  assert.equal(stretchAt(divided, at('2026-11-13T00:00:00Z')).name, 'visits_2026_11_13');
});

test('the stretch of now and the next one are made ahead, over the end of a year too', () => {
  const ahead = stretchesAhead(divided, at('2026-12-31T23:59:00Z'));
  assert.deepEqual(names(ahead), ['visits_2026_12_23', 'visits_2027_01_02']);
  assert.deepEqual(ahead[0]!.to, ahead[1]!.from);
});

test('a stretch is over when its youngest row is older than rows are kept', () => {
  const stretch = stretchAt(divided, at('2026-10-10T00:00:00Z'));
  const last = stretch.to.getTime() + 30 * 86_400_000;
  assert.equal(isOver(divided, stretch, new Date(last - 1)), false);
  assert.equal(isOver(divided, stretch, new Date(last)), true);
});

test('the stretches of a backup follow one another, from the oldest kept row to the next stretch', () => {
  const now = at('2026-11-20T12:00:00Z');
  const kept = stretchesKept(divided, now);
  const oldest = new Date(now.getTime() - 30 * 86_400_000);
  assert.ok(kept[0]!.from <= oldest && kept[0]!.to > oldest);
  assert.deepEqual(kept.at(-1), stretchesAhead(divided, now)[1]);
  for (const [n, { to }] of kept.slice(0, -1).entries()) assert.deepEqual(to, kept[n + 1]!.from);
});

test('a partition is known by its name; other tables are not', () => {
  assert.deepEqual(
    stretchNamed(divided, 'visits_2026_11_13'),
    stretchAt(divided, at('2026-11-15T00:00:00Z')),
  );
  for (const other of ['visits_default', 'visits_2026_13_01', 'visits_2026_02_30', 'visits']) {
    assert.equal(stretchNamed(divided, other), undefined, other);
  }
});
