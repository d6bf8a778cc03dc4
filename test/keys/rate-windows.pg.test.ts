import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { countSubject } from '../../src/keys/queries.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

test('a rate window reports whole seconds until its minute ends', async () => {
  await db.begin(async (tx) => {
    const { resets_in_seconds } = await countSubject(tx, randomUUID());
    const [row] = await tx<{ left: number }[]>`
      select 60 - extract(second from now())::float8 as left`;
    assert.equal(resets_in_seconds, Math.ceil(row!.left));
  });
});

test('a rate window restarts with the next minute and never goes back', async () => {
  const subject = randomUUID();
  await db.begin(async (tx) => {
    const used = async () => (await countSubject(tx, subject)).used;
    const move = (minutes: number) =>
      tx`update rate_windows set minute = minute + make_interval(mins => ${minutes}) where subject = ${subject}`;
    const ahead = async () => {
      const [row] = await tx<{ minutes: number }[]>`
        select (extract(epoch from minute - date_trunc('minute', now())) / 60)::int as minutes
        from rate_windows where subject = ${subject}`;
      return row!.minutes;
    };
    assert.deepEqual([await used(), await used(), await ahead()], [1, 2, 0]);
    await move(-1);
    assert.deepEqual([await used(), await used(), await ahead()], [1, 2, 0]);
    await move(1);
    assert.deepEqual([await used(), await ahead()], [3, 1]);
  });
});
