import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listTags } from '../../src/tags/queries.ts';
import { makeClient } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read } = await makeClient(db);
  return { id, ...reader(app, read) };
}

const makeTag = (org_id: string, name: string) =>
  db`insert into tags ${db({ org_id, name, color: '#aB12ef', created_at: new Date('2024-01-01') })}`;

test('tags are sorted by lower-case name, then by name, and come all at once', async () => {
  const org = await client();
  for (const name of ['b', 'a b', 'ab', 'B', 'Éa', 'A', 'z']) await makeTag(org.id, name);

  const { data, meta } = await org.json<{ data: { name: string }[]; meta: object }>('/api/v1/tags');

  const sorted = ['A', 'a b', 'ab', 'B', 'b', 'z', 'Éa'];
  for (const tags of [data, await listTags(db, org.id)]) {
    assert.deepEqual(
      tags.map(({ name }) => name),
      sorted,
    );
  }
  assert.deepEqual(meta, { total: 7 });
});

test('a tag has its public fields', async () => {
  const org = await client();
  await makeTag(org.id, 'VIP');
  const { data } = await org.list('/api/v1/tags');
  const [{ id, ...tag }] = data as [{ id: string }];
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(tag, { name: 'VIP', color: '#aB12ef', created_at: '2024-01-01T00:00:00.000Z' });
});

test("another organization's tags are not listed", async () => {
  const [mine, theirs] = [await client(), await client()];
  await makeTag(theirs.id, 'VIP');
  assert.deepEqual(await mine.json('/api/v1/tags'), { data: [], meta: { total: 0 } });
});
