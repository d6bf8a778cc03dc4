import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropErasedProperties } from '../../src/responses/answer.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

const cases: Record<string, { given: Record<string, unknown> | null; kept: unknown }> = {
  'nothing is kept of nothing': { given: null, kept: null },
  'properties without addresses stay': { given: { a: 1, b: 'x' }, kept: { a: 1, b: 'x' } },
  'addresses of others stay': { given: { by: 'ben@people.test' }, kept: { by: 'ben@people.test' } },
  'of two properties the one that names the person goes': {
    given: { by: 'see Ada@People.test.', page: '/home' },
    kept: { page: '/home' },
  },
  'a property goes whose name is the address': {
    given: { 'ada@people.test': true, page: '/home', n: 2 },
    kept: { page: '/home', n: 2 },
  },
  'a property goes that names the person next to another': {
    given: { team: 'ben@people.test, ada@people.test, cy@people.test', page: '/home' },
    kept: { page: '/home' },
  },
  'what names no other person goes as a whole': { given: { by: 'ada@people.test' }, kept: null },
};

const org_id = await makeOrganization(db);
await db`
  insert into erasures (org_id, address_hash, scores, counts)
  select id, keyed_hash(address_key, 'ada@people.test'), 'kept', '{}' from organizations where id = ${org_id}`;

for (const [what, { given, kept }] of Object.entries(cases)) {
  test(`properties of an embedded survey: ${what}`, async () => {
    assert.deepEqual(
      await dropErasedProperties(db, { org_id }, { properties: given as never }),
      kept,
    );
  });
}

test('an address that another organization erased is kept', async () => {
  const other = { org_id: await makeOrganization(db) };
  const properties = { by: 'ada@people.test' };
  assert.deepEqual(await dropErasedProperties(db, other, { properties }), properties);
});
