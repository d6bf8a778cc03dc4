import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { createKey, revokeKey } from '../../src/keys/manage.ts';
import { listKeys } from '../../src/keys/queries.ts';
import { makeClient, makeOrganization } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

test("another organization's key cannot be revoked", async () => {
  const [mine, theirs] = [await makeOrganization(db), await makeOrganization(db)];
  const key = await createKey(db, commandWriter(theirs), { name: 'website' });
  await assert.rejects(revokeKey(db, commandWriter(mine), key.id), { kind: 'not_found' });
  assert.equal((await listKeys(db, theirs))[0]!.revoked_at, null);
});

test('every request updates the last use of a key once a minute', async () => {
  const { id, read, write } = await makeClient(db);
  const usedAt = async (name: string) =>
    (await listKeys(db, id)).find((key) => key.name === name)!.last_used_at;
  assert.equal(await usedAt('read'), null);
  await app.request('/api/v1/tags', { headers: read });
  await app.request('/api/v1/nowhere', { headers: write });
  assert.ok(await usedAt('read'));
  assert.ok(await usedAt('write'));

  const before = new Date('2026-01-01T00:00:00Z');
  await db`update api_keys set last_used_at = ${before} where org_id = ${id}`;
  await db`update rate_windows set minute = date_trunc('minute', now() + interval '1 minute')`;
  await app.request('/api/v1/tags', { headers: read });
  assert.deepEqual(await usedAt('read'), before);
});
