import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/actor.ts';
import { changeTag, createTag } from '../../src/tags/manage.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

test('a change of a tag that changes nothing leaves no trace', async () => {
  const writer = commandWriter(await makeOrganization(db));
  const { id } = await createTag(db, writer, { name: 'vip', color: '#112233' });
  const acts = async () =>
    (await db`select from audit_events where act = 'tag.changed' and target_id = ${id}`).length;

  const same = await changeTag(db, writer, { id, name: 'vip', color: '#112233' });
  assert.deepEqual([same.id, same.name, same.color], [id, 'vip', '#112233']);
  assert.ok(!('differs' in same));
  assert.equal(await acts(), 0);

  assert.equal((await changeTag(db, writer, { id, name: 'VIP' })).color, '#112233');
  assert.equal(await acts(), 1);
});
