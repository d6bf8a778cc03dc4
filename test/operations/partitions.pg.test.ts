import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { backup } from '../../src/lib/backup/backup.ts';
import type { Db } from '../../src/lib/db/db.ts';
import { archive } from '../../src/operations/archive.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { emptyDatabase, testDatabase } from '../support/probe/database.ts';
import { askback, secretKey, startService } from '../support/processes/program.ts';

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

const environment = (url: string) => ({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  ASKBACK_PUBLIC_URL: 'https://ask.example',
  PORT: '0',
});

async function assertAhead(db: Db) {
  const tables = await ahead(db);
  assert.equal(tables.length, 4);
  assert.ok(
    tables.every(({ partitions }) => partitions === 3),
    JSON.stringify(tables),
  );
  await visitOf(db, '0 days');
  assert.match((await partitionsOfVisits(db)).join(), /^link_visits_\d{4}_\d\d_\d\d$/);
}

test('a start makes the partitions of now and of the next rows, in every table that has some', async () => {
  const { db, url } = await testDatabase();
  assert.ok((await ahead(db)).every(({ partitions }) => partitions === 1));
  const service = startService(environment(url));
  await service.ready();
  await assertAhead(db);
  assert.equal(await service.stop(), 0);
});

test('askback migrate makes them too', async () => {
  const { db, url } = await emptyDatabase();
  assert.equal((await askback(['migrate'], environment(url))).code, 0);
  await assertAhead(db);
});

test('a restored row lies in the partition of its time', async () => {
  const { db } = await testDatabase();
  await visitOf(db, '80 days');
  assert.deepEqual(await partitionsOfVisits(db), ['link_visits_default']);
  const file = join(folder, 'backup');
  await backup(db, { archive, file, secretKey: null });
  const { db: fresh, url } = await emptyDatabase();
  assert.equal((await askback(['restore', file], environment(url))).code, 0);
  assert.match((await partitionsOfVisits(fresh)).join(), /^link_visits_\d{4}_\d\d_\d\d$/);
});
