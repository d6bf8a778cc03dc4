import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listTags } from '../../src/tags/tags.ts';
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

test('tags are sorted by lower-case name, without pages', async () => {
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

test("another organization's tags are not listed", async () => {
  const [mine, theirs] = [await client(), await client()];
  await makeTag(theirs.id, 'VIP');
  assert.deepEqual(await mine.json('/api/v1/tags'), { data: [], meta: { total: 0 } });
});

const wishes: [what: string, wish: Record<string, unknown>, made: string | null][] = [
  ['a name of one character', { name: 'x' }, 'x'],
  ['a name of 200', { name: 'x'.repeat(200) }, 'x'.repeat(200)],
  ['a name between spaces', { name: '  VIP ' }, 'VIP'],
  ['a color in either case', { name: 'mixed', color: '#1F6feb' }, 'mixed'],
  ['no name', { name: '' }, null],
  ['a name of spaces', { name: '  ' }, null],
  ['a name of 201 characters', { name: 'x'.repeat(201) }, null],
  ['a color of five digits', { name: 'a', color: '#1F6FE' }, null],
  ['a color of seven digits', { name: 'a', color: '#1F6FEB0' }, null],
  ['a color without its mark', { name: 'a', color: '1F6FEB' }, null],
];
for (const [what, wish, made] of wishes) {
  test(`${made === null ? 'rejects' : 'accepts'} a tag with ${what}`, async () => {
    const { id, write } = await makeClient(db);
    const send = async (method: string, path: string, body: object) => {
      const headers = { ...write, 'Content-Type': 'application/json' };
      const asked = { method, headers, body: JSON.stringify(body) };
      return (await app.request(`/api/v1/tags${path}`, asked)).status;
    };
    await makeTag(id, 'before');
    const [before] = await db`select id from tags where org_id = ${id}`;
    assert.equal(await send('POST', '', wish), made === null ? 400 : 201);
    assert.equal(
      (await listTags(db, id)).some(({ name }) => name === made),
      made !== null,
    );
    await db`delete from tags where org_id = ${id} and id <> ${before!['id']}`;
    assert.equal(await send('PATCH', `/${before!['id']}`, wish), made === null ? 400 : 200);
    const [{ name } = {}] = await listTags(db, id);
    assert.equal(name, made ?? 'before');
  });
}
