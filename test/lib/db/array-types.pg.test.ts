import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect } from '../../../src/lib/db/db.ts';
import { testDatabase } from '../../support/probe/database.ts';

const { url } = await testDatabase();

/** A pool of one connection, and what it sends. */
function openPool(options: { arrays?: boolean } = {}) {
  const db = connect(url, { connections: 1, ...options });
  after(() => db.end());
  const sent: string[] = [];
  // postgres.js looks at this option at every statement; its type only knows it at the beginning.
  const debug = (_connection: number, text: string) => void sent.push(text.trim());
  Object.assign(db.options, { debug });
  return { db, sent };
}

test('a connection knows the types of arrays before its first statement', async () => {
  const { db, sent } = openPool();
  assert.deepEqual([...(await db`select ${['a']}::text[] as words`)], [{ words: ['a'] }]);
  assert.equal(sent.length, 2);
});

test('a connection that uses no arrays sends its first statement at once', async () => {
  const { db, sent } = openPool({ arrays: false });
  assert.deepEqual([...(await db`select 1 as number`)], [{ number: 1 }]);
  assert.deepEqual(sent, ['select 1 as number']);
});
