import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaitPostgres } from '../src/open-sessions.ts';
import { proxyTo } from './support/fakes/database-proxy.ts';
import { testDatabase } from './support/probe/database.ts';

const { url } = await testDatabase();

test('one connection shows that a database answers and has no pooler in front of it', async () => {
  const way = await proxyTo(url);
  await awaitPostgres(way.url, 'DATABASE_URL', { seconds: 20, say: () => {} });
  assert.equal(way.made(), 1);
});
