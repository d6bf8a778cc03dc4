import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { recordWrites } from '../../src/keys/read.ts';
import type { Replica } from '../../src/lib/db/replica.ts';
import type { RequestEnv } from '../../src/lib/http/http.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const replica = {} as Replica;

/** Returns true if a request with this response counts as a write. */
async function isRecorded(method: string, status: ContentfulStatusCode, tools = { db, replica }) {
  const org = await makeOrganization(db);
  const app = new Hono<RequestEnv>().use(recordWrites(tools)).all('/', (c) => {
    c.set('tenant', org);
    return c.text('', status);
  });
  await app.request('/', { method });
  return (await db`select from organization_writes where org_id = ${org}`).length === 1;
}

test('successful writes and redirecting forms record a position', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) assert.ok(await isRecorded(method, 200));
  for (const status of [201, 202, 302, 303] as const) assert.ok(await isRecorded('POST', status));
});

test('reads, refusals and services without a replica record no position', async () => {
  assert.ok(!(await isRecorded('GET', 200)));
  assert.ok(!(await isRecorded('HEAD', 200)));
  for (const status of [400, 403, 409, 503] as const)
    assert.ok(!(await isRecorded('POST', status)));
  assert.ok(!(await isRecorded('POST', 200, { db } as never)));
});
