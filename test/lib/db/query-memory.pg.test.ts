import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GCProfiler } from 'node:v8';
import { connect, type Db, one } from '../../../src/lib/db/db.ts';
import { refuseWhileAway } from '../../../src/lib/db/fair-pool.ts';
import { testDatabase } from '../../support/probe/database.ts';

const { url } = await testDatabase();

const statements = 10_000;
const atOnce = 8;
/** Each makes some 8 KB, and keeps some 30 bytes: machine code, and what is in flight at a collection. */
const mostKept = 500;

test('what statements make is gone with the young generation', async (t) => {
  const pool = connect(url, { connections: atOnce });
  t.after(() => pool.end({ timeout: 1 }));
  const kept = await keptBy(refuseWhileAway(pool));
  assert.ok(kept < mostKept, `${Math.round(kept)} bytes of each statement were kept`);
});

/** The bytes of a statement that V8 moves to the old generation, where only a collection of everything frees them. */
async function keptBy(db: Db): Promise<number> {
  await runAll(db);
  const profiler = new GCProfiler();
  profiler.start();
  await runAll(db);
  const collections = profiler.stop()!.statistics.filter(({ gcType }) => gcType === 'Scavenge');
  const moved = collections.map(({ beforeGC, afterGC }) => oldBytes(afterGC) - oldBytes(beforeGC));
  return moved.reduce((sum, bytes) => sum + bytes, 0) / statements;
}

async function runAll(db: Db) {
  let begun = 0;
  const run = async () => {
    while (begun < statements) {
      const n = begun++;
      const text = 'y'.repeat(500);
      const rows = await db<{ n: number }[]>`select ${n}::int as n, ${text}::text as text`;
      assert.equal(one(rows).n, n);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}

type Heap = { heapSpaceStatistics: { spaceName: string; spaceUsedSize: number }[] };

const oldBytes = ({ heapSpaceStatistics }: Heap) =>
  heapSpaceStatistics.find(({ spaceName }) => spaceName === 'old_space')!.spaceUsedSize;
