import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertOrganization, slugOf } from '../../src/organizations/queries.ts';
import { testDatabase } from '../support/probe/database.ts';

for (const [name, slug] of [
  ['Acme', 'acme'],
  ['  Larkspur & Söhne, GmbH ', 'larkspur-sohne-gmbh'],
  ["Ann's Café", 'anns-cafe'],
  ['Straße Øst Łódź', 'strasse-ost-lodz'],
  ['株式会社', 'organization'],
  ['a'.repeat(200), 'a'.repeat(60)],
  [`${'a'.repeat(59)} b`, 'a'.repeat(59)],
] as const) {
  test(`slugOf turns ${name.slice(0, 30)} into ${slug.slice(0, 30)}`, () => {
    assert.equal(slugOf(name), slug);
  });
}

test('concurrent organizations of one name get distinct slugs', async () => {
  const { db } = await testDatabase();
  const made = await Promise.all(
    Array.from({ length: 8 }, () => insertOrganization(db, { name: 'Same Name' })),
  );
  const expected = ['same-name', ...[2, 3, 4, 5, 6, 7, 8].map((n) => `same-name-${n}`)];
  assert.deepEqual(made.map(({ slug }) => slug).sort(), expected.sort());
});

test('a former slug of another organization is not reused', async () => {
  const { db } = await testDatabase();
  const { id } = await insertOrganization(db, { name: 'Renamed' });
  await db`insert into former_slugs ${db({ slug: 'earlier', org_id: id })}`;
  assert.equal((await insertOrganization(db, { name: 'Earlier' })).slug, 'earlier-2');
});
