import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { backup } from '../../src/lib/backup/backup.ts';
import { restore } from '../../src/lib/backup/restore.ts';
import type { Db } from '../../src/lib/db/db.ts';
import { archive } from '../../src/operations/archive.ts';
import { addPartitionsKept, makePartitionsAhead } from '../../src/operations/partitions.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { emptyDatabase, testDatabase } from '../support/probe/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'askback-partitions-'));
after(() => rmSync(folder, { recursive: true }));

async function visitOf(db: Db, age: string) {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const contact_id = await makeContact(db, { org_id, survey_id });
  await db`
    insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
    values (${org_id}, ${survey_id}, ${contact_id}, 'view', 'GET', now() - ${age}::interval)`;
}

const partitionsOfVisits = async (db: Db) =>
  [...(await db<{ name: string }[]>`select tableoid::regclass::text as name from link_visits`)].map(
    ({ name }) => name,
  );

const ahead = async (db: Db) => [
  ...(await db`
    select inhparent::regclass::text as table, count(*)::int as partitions
    from pg_inherits
    where inhparent in (select partrelid from pg_partitioned_table)
      and (select relkind from pg_class where oid = inhrelid) = 'r'
    group by 1
    order by 1`),
];

test('a start makes the partitions of now and of the next rows, in every table that has some', async () => {
  const { db } = await testDatabase();
  assert.ok((await ahead(db)).every(({ partitions }) => partitions === 1));
  assert.deepEqual(await makePartitionsAhead(db), []);
  const tables = await ahead(db);
  assert.ok(tables.length >= 2);
  assert.ok(tables.every(({ partitions }) => partitions === 3));
  await visitOf(db, '0 days');
  assert.match((await partitionsOfVisits(db)).join(), /^link_visits_\d{4}_\d\d_\d\d$/);
});

test('a restored row lies in the partition of its time', async () => {
  const { db } = await testDatabase();
  await visitOf(db, '80 days');
  assert.deepEqual(await partitionsOfVisits(db), ['link_visits_default']);
  const file = join(folder, 'backup');
  await backup(db, { archive, file, secretKey: null });
  const { db: fresh } = await emptyDatabase();
  await restore(fresh, file, {
    ...{ archive, keepKey: () => {}, beforehand: addPartitionsKept, afterwards: [] },
  });
  assert.match((await partitionsOfVisits(fresh)).join(), /^link_visits_\d{4}_\d\d_\d\d$/);
});
