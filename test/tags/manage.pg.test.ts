import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { changeTag, createTag, ensureTags } from '../../src/tags/tags.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

test('a change without a difference is not audited', async () => {
  const writer = commandWriter(await makeOrganization(db));
  const { id } = await createTag(db, writer, { name: 'vip', color: '#11aa33' });
  const acts = async () =>
    (await db`select from audit_events where act = 'tag.changed' and target_id = ${id}`).length;

  const same = await changeTag(db, writer, { id, name: 'vip', color: '#11AA33' });
  assert.deepEqual([same.id, same.name, same.color], [id, 'vip', '#11aa33']);
  assert.ok(!('differs' in same));
  assert.equal(await acts(), 0);

  assert.equal((await changeTag(db, writer, { id, name: 'VIP' })).color, '#11aa33');
  assert.equal(await acts(), 1);
});

test('an import matches tags case-insensitively', async () => {
  const org = await makeOrganization(db);
  const writer = commandWriter(org);
  const billing = await createTag(db, writer, { name: 'Billing' });
  const upper = await createTag(db, writer, { name: 'BILLING' });
  const found = await ensureTags(db, writer, [
    'billing',
    'BILLING',
    'Too slow',
    'too slow',
    'shop',
  ]);
  assert.equal(found.get('billing'), billing.id);
  assert.equal(found.get('BILLING'), upper.id);
  assert.equal(found.get('too slow'), found.get('Too slow'));
  assert.deepEqual(await ensureTags(db, writer, ['SHOP']), new Map([['SHOP', found.get('shop')]]));
  const names = await db`select name from tags where org_id = ${org} order by name collate "C"`;
  assert.deepEqual(
    names.map(({ name }) => name),
    ['BILLING', 'Billing', 'Too slow', 'shop'],
  );
});

test('an organization creates at most 1,000 tags, but imports may add more', async () => {
  const org = await makeOrganization(db);
  const writer = commandWriter(org);
  await db`
    insert into tags (org_id, name, color)
    select ${org}, 'tag ' || n, '#112233' from generate_series(1, 995) n`;
  const made = await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => createTag(db, writer, { name: `more ${n}` })),
  );
  const refused = made.filter((one) => one.status === 'rejected').map(({ reason }) => reason);
  assert.equal(refused.length, 5);
  assert.deepEqual([refused[0].kind, refused[0].code], ['invalid', 'too_many_tags']);
  await ensureTags(db, writer, ['imported']);
  const [{ count } = {}] = await db`select count(*)::int from tags where org_id = ${org}`;
  assert.equal(count, 1001);
  await createTag(db, commandWriter(await makeOrganization(db)), { name: 'of another' });
});
