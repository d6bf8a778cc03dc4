import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUpKeys } from '../../src/keys/manage.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
test('cleanUpKeys deletes more than one batch', async () => {
  await db`
    insert into rate_windows (subject, minute, count)
    select 'address:' || n, now() - interval '1 hour', 1 from generate_series(1, 12001) as n`;

  await cleanUpKeys({ db });

  const kept = await db`select subject from rate_windows where subject like 'address:%'`;
  assert.equal(kept.length, 0);
});
