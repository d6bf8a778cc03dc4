import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { enqueue } from '../../../src/jobs.ts';
import { backup } from '../../../src/lib/backup/backup.ts';
import { restore } from '../../../src/lib/backup/restore.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import { makeContact, makeOrganization, makeSurvey } from '../../support/make/rows.ts';
import { emptyDatabase, testDatabase } from '../../support/probe/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'askback-backup-'));
after(() => rmSync(folder, { recursive: true }));

const secretKey = Buffer.alloc(32, 7);
const simply = { keepKey: () => {}, afterwards: [] };

/** A deployment with awkward text in it, one row in the outbox and one job in the queue. */
async function deployment() {
  const { db } = await testDatabase();
  const org_id = await makeOrganization(db, {
    name: 'Tab\there, line\nthere, back\\slash, \\. end',
  });
  const survey_id = await makeSurvey(db, org_id);
  await makeContact(db, { org_id, survey_id }, { name: '\\N is not null — 名前' });
  await makeContact(db, { org_id, survey_id }, { name: null });
  await db`
    insert into responses (org_id, survey_id, score, category, comment)
    select ${org_id}, ${survey_id}, 9, 'promoter', repeat('long ', 900) from generate_series(1, 300)`;
  await db`insert into blocked_mails (org_id, survey_id, email, reason_code, reason)
    values (${org_id}, ${survey_id}, 'a@b.test', 'frequency', 'too soon')`;
  const job = { org_id, webhook_id: survey_id };
  await enqueue(db, [{ task: 'webhooks.deliver', payload: job }]);
  await db`select graphile_worker.add_job('webhooks.deliver', ${db.json(job)}::json)`;
  return { db, org_id, survey_id };
}

const everything = async (db: Db) => ({
  organizations: await db`select * from organizations`,
  surveys: await db`select * from surveys`,
  contacts: await db`select * from contacts order by id`,
  answers: await db`select * from responses order by id`,
  tallies: await db`select * from survey_tallies`,
  days: await db`select * from day_tallies`,
});

test('a restored deployment has what the other had when it was backed up', async () => {
  const { db } = await deployment();
  const file = join(folder, 'whole');
  const { rows } = await backup(db, { file, secretKey });
  const before = await everything(db);

  const { db: fresh } = await emptyDatabase();
  const kept: Buffer[] = [];
  const means = { keepKey: (key: Buffer) => kept.push(key), afterwards: [] };
  const restored = await restore(fresh, file, means);

  assert.equal(restored.rows, rows);
  assert.deepEqual(kept, [secretKey]);
  assert.deepEqual(await everything(fresh), before);
});

test('jobs that waited in the queue or the outbox wait in the outbox again', async () => {
  const { db, org_id, survey_id } = await deployment();
  const file = join(folder, 'jobs');
  await backup(db, { file, secretKey });

  const { db: fresh } = await emptyDatabase();
  await restore(fresh, file, simply);

  const jobs = await fresh`select task, payload from outbox order by id`;
  const job = { task: 'webhooks.deliver', payload: { org_id, webhook_id: survey_id } };
  assert.deepEqual([...jobs], [job, job]);
});

test('after a restore triggers count and identities go on', async () => {
  const { db, org_id, survey_id } = await deployment();
  const file = join(folder, 'goes-on');
  await backup(db, { file, secretKey: null });
  const { db: fresh } = await emptyDatabase();
  await restore(fresh, file, simply);

  await makeContact(fresh, { org_id, survey_id });
  await fresh`insert into blocked_mails (org_id, survey_id, email, reason_code, reason)
    values (${org_id}, ${survey_id}, 'c@d.test', 'frequency', 'too soon')`;

  const [tally] = await fresh`select sum(contacts)::int as contacts from survey_tallies`;
  assert.equal(tally?.['contacts'], 3);
  const ids = await fresh<{ id: string }[]>`select id from blocked_mails order by id`;
  assert.deepEqual(
    ids.map(({ id }) => Number(id)),
    [1, 2],
  );
});

test('only its owner may read the file', async () => {
  const { db } = await deployment();
  const file = join(folder, 'private');
  await backup(db, { file, secretKey });
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a file that was cut short changes nothing', async () => {
  const { db } = await deployment();
  const file = join(folder, 'cut');
  await backup(db, { file, secretKey });
  writeFileSync(file, readFileSync(file).subarray(0, -40));

  const { db: fresh } = await emptyDatabase();
  await assert.rejects(restore(fresh, file, simply), {
    message: /the backup cannot be restored: /,
  });

  const [left] = await fresh`select count(*)::int as organizations from organizations`;
  assert.equal(left?.['organizations'], 0);
});

test('a file of another kind is refused', async () => {
  const file = join(folder, 'other');
  writeFileSync(file, 'not a backup');
  const { db: fresh } = await emptyDatabase();
  await assert.rejects(restore(fresh, file, simply), {
    message: /the backup cannot be restored: /,
  });
});

test('a database that holds something is not overwritten', async () => {
  const { db } = await deployment();
  const file = join(folder, 'filled');
  await backup(db, { file, secretKey });
  await assert.rejects(restore(db, file, simply), { message: /the database is not empty/ });
});

test('a step after the restore that fails takes the restore back', async () => {
  const { db } = await deployment();
  const file = join(folder, 'step');
  await backup(db, { file, secretKey });
  const { db: fresh } = await emptyDatabase();

  const failing = () => Promise.reject(new Error('no'));
  await assert.rejects(restore(fresh, file, { ...simply, afterwards: [failing] }), {
    message: 'no',
  });

  const [left] = await fresh`select count(*)::int as organizations from organizations`;
  assert.equal(left?.['organizations'], 0);
});
