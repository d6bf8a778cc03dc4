import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanUpKeys } from '../../src/keys/manage.ts';
import { makeClient } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const { id } = await makeClient(db);
const [key] = await db`select id from api_keys where org_id = ${id} limit 1`;

async function storeAnswer(name: string, age: string) {
  await db`
    insert into idempotency_keys (key_id, name, request_hash, created_at)
    values (${key!['id']}, ${name}, '\\x00', now() - ${age}::interval)`;
}

async function countWindow(subject: string, age: string) {
  await db`
    insert into rate_windows (subject, minute, count)
    values (${subject}, date_trunc('minute', now() - ${age}::interval), 1)`;
}

test('an answer is kept for 24 hours', async () => {
  await storeAnswer('yesterday', '24 hours 1 second');
  await storeAnswer('today', '23 hours 59 minutes');

  await cleanUpKeys({ db });

  const kept = await db`select name from idempotency_keys`;
  assert.deepEqual([...kept], [{ name: 'today' }]);
});

test('a rate window is kept for some minutes', async () => {
  await countWindow('key:old', '7 minutes');
  await countWindow('key:new', '1 minute');

  await cleanUpKeys({ db });

  const kept = await db`select subject from rate_windows`;
  assert.deepEqual([...kept], [{ subject: 'key:new' }]);
});

test('cleaning up deletes more than one batch in one go', async () => {
  await db`
    insert into rate_windows (subject, minute, count)
    select 'address:' || n, now() - interval '1 hour', 1 from generate_series(1, 12001) as n`;

  await cleanUpKeys({ db });

  const kept = await db`select subject from rate_windows where subject like 'address:%'`;
  assert.equal(kept.length, 0);
});
