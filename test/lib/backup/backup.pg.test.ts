import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { enqueue } from '../../../src/jobs.ts';
import { issueKey } from '../../../src/keys/manage.ts';
import { backup, listTables } from '../../../src/lib/backup/backup.ts';
import { restore } from '../../../src/lib/backup/restore.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import { prepareQueue } from '../../../src/lib/queue/enqueue.ts';
import { archive } from '../../../src/operations/archive.ts';
import { addDeliveries } from '../../support/make/delivery-rows.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../../support/make/rows.ts';
import { emptyDatabase, testDatabase } from '../../support/probe/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'askback-backup-'));
after(() => rmSync(folder, { recursive: true }));

const secretKey = Buffer.alloc(32, 7);
const simply = { archive, checkKey: () => {}, saveKey: () => {}, afterRestore: [] };

/** An empty database with a prepared queue, ready for a restore. */
async function databaseWithQueue() {
  const empty = await emptyDatabase();
  await prepareQueue(empty.db, empty);
  return empty;
}

/** A deployment with unusual text and three queued jobs. */
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
  for (const payload of [job, job]) await enqueue(db, [{ task: 'webhooks.deliver', payload }]);
  await db`select graphile_worker.add_job('webhooks.deliver', ${db.json(job)}::json)`;
  return { db, org_id, survey_id };
}

const everything = async (db: Db) => ({
  organizations: await db`select * from organizations`,
  surveys: await db`select * from surveys`,
  contacts: await db`select * from contacts order by id`,
  answers: await db`select * from responses order by id`,
  tallies: await db`select * from survey_tallies`,
  hours: await db`select * from hour_tallies`,
});

test('a restored deployment equals the one that was backed up', async () => {
  const { db } = await deployment();
  const file = join(folder, 'whole');
  const { rows } = await backup(db, { archive, file, secretKey });
  const before = await everything(db);

  const { db: fresh } = await databaseWithQueue();
  const kept: Buffer[] = [];
  const means = {
    archive,
    checkKey: () => {},
    saveKey: (key: Buffer) => kept.push(key),
    afterRestore: [],
  };
  const restored = await restore(fresh, file, means);

  assert.equal(restored.rows, rows);
  assert.deepEqual(kept, [secretKey]);
  assert.deepEqual(await everything(fresh), before);
});

/** Adds a row to every table, so that the test notices a table that the backup leaves out. */
async function fillEveryTable(db: Db) {
  const org_id = await makeOrganization(db, { name: 'every table' });
  const survey_id = await makeSurvey(db, org_id);
  const mailed = { status: 'sent', sent_at: new Date('2026-03-01T00:00:00Z') };
  const contact_id = await makeContact(db, { org_id, survey_id }, mailed);
  const of = { org_id, survey_id, contact_id };
  const response_id = await makeResponse(db, { org_id, survey_id }, { contact_id });
  const webhook_id = await makeWebhook(db, org_id);
  const { id: key_id } = await issueKey(db, org_id, { name: 'key' });
  const bytes = Buffer.from([0, 255, 10]);
  const email = 'Ann@People.test';
  const reason = { reason_code: 'frequency', reason: 'too soon' };
  await db`insert into idempotency_keys ${db({ key_id, name: 'a', request_hash: bytes, status: 201, answer: bytes })}`;
  await db`insert into mail_usage ${db({ org_id, month: '2026-03-01', used: 3 })}`;
  await db`insert into link_visits ${db({ ...of, kind: 'view', method: 'GET', score: 9 })}`;
  await db`insert into mails ${db({ ...of, request_id: randomUUID(), email, month: '2026-03-01' })}`;
  await db`insert into blocked_mails ${db({ org_id, survey_id, email, ...reason })}`;
  const address = { org_id, email: email.toLowerCase(), kind: 'unsubscribed' };
  await db`insert into suppressions ${db(address)}`;
  const lifted = { id: randomUUID(), by_hand: false, created_at: new Date(), consent: 'by phone' };
  await db`insert into lifted_suppressions ${db({ ...address, ...lifted })}`;
  await db`
    insert into mailbox_messages ${db({ mail_from: 'a@b.test', rcpt_to: email, subject: 's', raw: bytes })}`;
  await addDeliveries(db, { org_id, webhook_id });
  const [delivery_id] = await addDeliveries(db, { org_id, webhook_id, status: 'failed' });
  const attempt = { org_id, webhook_id, delivery_id: delivery_id!, number: 1, duration_ms: 5 };
  await db`insert into delivery_attempts ${db({ ...attempt, error: 'away' })}`;
  await db`insert into analyses ${db({ org_id, response_id, provider: 'test', themes: ['price'] })}`;
  await db`insert into waiting_analyses ${db({ org_id, response_id })}`;
  await db`insert into themes ${db({ org_id, name: 'price', words: ['dear'] })}`;
  const period = { period_start: new Date(0), period_end: new Date(1), responses: 0, text: 'none' };
  await db`insert into summaries ${db({ org_id, ...period })}`;
  const tag_id = randomUUID();
  await db`insert into tags ${db({ id: tag_id, org_id, name: 'vip', color: '#ffffff' })}`;
  await db`insert into response_tags ${db({ org_id, response_id, tag_id })}`;
  await db`
    insert into response_answers ${db({ org_id, response_id, answers: db.json({ q_1: { text: 'Why not' } }) })}`;
  await db`
    insert into response_notes ${db({ org_id, response_id, text: 'called', author: 'Ann', author_kind: 'key' })}`;
  await db`
    insert into replies ${db({ org_id, response_id, text: 'thanks', author: 'Ann', author_kind: 'key' })}`;
  await db`insert into canned_texts ${db({ org_id, name: 'thanks', text: 'many thanks' })}`;
  await enqueue(db, [{ task: 'surveys.fold_tallies', payload: {} }]);
  const logo = { type: 'image/png', width: 1, height: 1, bytes };
  await db`insert into organization_logos ${db({ org_id, ...logo })}`;
  await db`insert into former_slugs ${db({ org_id, slug: 'before' })}`;
  await db`insert into reporters ${db({ org_id, name: 'metabase', role_name: 'no such role' })}`;
  const erased = {
    scores: 'kept',
    counts: db.json({ contacts: 1 }),
    address_hash: Buffer.alloc(32, 7),
  };
  await db`insert into erasures ${db({ org_id, ...erased })}`;
  await fillCampaignTables(db, of);
  await fillMemberTables(db, org_id);
}

type ContactPlace = { org_id: string; survey_id: string; contact_id: string };

async function fillCampaignTables(db: Db, { org_id, survey_id, contact_id }: ContactPlace) {
  const [campaign_id, upload_id] = [randomUUID(), randomUUID()];
  const running = { id: campaign_id, name: 'spring', status: 'running' };
  await db`insert into segments ${db({ org_id, name: 'all', filter: db.json({ all: [] }) })}`;
  await db`insert into campaigns ${db({ org_id, survey_id, ...running })}`;
  await db`insert into campaign_batches ${db({ id: randomUUID(), org_id, campaign_id, mails: 1 })}`;
  await db`insert into campaign_contacts ${db({ org_id, survey_id, campaign_id, contact_id })}`;
  const list = {
    name: 'list.csv',
    delimiter: ';',
    first_line: 1,
    has_header: true,
    rows: 1,
    bytes: 3,
  };
  await db`insert into contact_uploads ${db({ id: upload_id, org_id, survey_id, ...list })}`;
  await db`insert into contact_upload_chunks ${db({ org_id, upload_id, place: 0, chunk: 'a;b' })}`;
  await db`
    insert into contact_upload_rejects ${db({ org_id, upload_id, line: 2, value: 'x', reason: 'no address' })}`;
  const import_id = randomUUID();
  const started = { id: import_id, service: 'csv', time_zone: 'UTC', actor: db.json({}) };
  await db`insert into imports ${db({ org_id, ...started })}`;
  await db`insert into import_files ${db({ org_id, import_id, place: 0, name: 'a.csv' })}`;
  await db`
    insert into import_chunks ${db({ org_id, import_id, file: 0, place: 0, chunk: 'a;b' })}`;
}

async function fillMemberTables(db: Db, org_id: string) {
  const hash = Buffer.alloc(32, 1);
  const [member] = await db<{ id: string }[]>`
    insert into members ${db({ email: 'Ann@Acme.test', name: 'Ann', totp_secret: hash })}
    returning id`;
  const member_id = member!.id;
  const wanted = { org_id, member_id, events: ['held'] };
  await db`insert into memberships ${db({ org_id, member_id, role: 'owner' })}`;
  const invitation = { kind: 'invitation', email: 'bob@acme.test', expires_at: new Date() };
  await db`insert into notification_choices ${db(wanted)}`;
  await db`
    insert into saved_views ${db({ org_id, member_id, name: 'Mine', filters: db.json([['owner', 'me']]) })}`;
  await db`insert into notifications ${db({ org_id, member_id, kind: 'held', subject: 'x' })}`;
  await db`insert into notification_contents ${db({ org_id, people: true, unedited: false })}`;
  await db`insert into slack_hooks ${db({ org_id, url: hash, events: ['held'] })}`;
  await db`insert into member_links ${db({ token_hash: hash, org_id, role: 'viewer', ...invitation })}`;
  await db`insert into passkeys ${db({ id: 'abc', member_id, name: 'phone', public_key: hash })}`;
  await db`insert into spent_handshakes ${db({ hash, expires_at: new Date(0) })}`;
  await db`insert into recovery_codes ${db({ member_id, code_hash: hash })}`;
  await db`insert into audit_events ${db({ org_id, act: 'key.created', actor_kind: 'command', actor: 'ann' })}`;
}

/** All rows of all tables except these, as sorted text. */
async function rowsByTable(db: Db, except: readonly string[]) {
  const found: Record<string, string[]> = {};
  for (const { table } of await listTables(db, except)) {
    const rows = await db<{ row: string }[]>`select t::text as row from ${db(table)} t order by 1`;
    found[table] = rows.map(({ row }) => row);
  }
  return found;
}

test('every table is restored, except tables of a running process', async () => {
  const runningOnly = [
    'organization_writes',
    'proof_attempts',
    'rate_windows',
    'schema_migrations',
    'service_record',
    'sessions',
    'worker_pools',
  ];
  assert.deepEqual([...archive.except].sort(), runningOnly);

  const { db } = await testDatabase();
  await fillEveryTable(db);
  const before = await rowsByTable(db, runningOnly);
  for (const [table, rows] of Object.entries(before))
    assert.ok(rows.length > 0, `${table} is empty`);

  const file = join(folder, 'every-table');
  await backup(db, { archive, file, secretKey: null });
  const { db: fresh } = await databaseWithQueue();
  await restore(fresh, file, simply);
  assert.deepEqual(await rowsByTable(fresh, runningOnly), before);
});

test('queued jobs are restored, but failed ones are not', async () => {
  const { db, org_id, survey_id } = await deployment();
  await db`
    update graphile_worker._private_jobs set attempts = max_attempts - 1`;
  await db`
    with given_up as (select graphile_worker.add_job('sends.mail', '{}'::json) as job)
    select (job).id from given_up`;
  await db`
    update graphile_worker._private_jobs set attempts = max_attempts where attempts = 0`;
  const file = join(folder, 'jobs');
  await backup(db, { archive, file, secretKey });

  const { db: fresh } = await databaseWithQueue();
  await restore(fresh, file, simply);

  const jobs = await fresh`
    select identifier as task, payload
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = task_id
    order by j.id`;
  const job = { task: 'webhooks.deliver', payload: { org_id, webhook_id: survey_id } };
  assert.deepEqual([...jobs], [job, job, job]);
});

test('triggers and identity columns work after a restore', async () => {
  const { db, org_id, survey_id } = await deployment();
  const file = join(folder, 'goes-on');
  await backup(db, { archive, file, secretKey: null });
  const { db: fresh } = await databaseWithQueue();
  await restore(fresh, file, simply);

  await makeContact(fresh, { org_id, survey_id });
  await enqueue(fresh, [{ task: 'webhooks.deliver', payload: { org_id, webhook_id: survey_id } }]);

  const [tally] = await fresh`select sum(contacts)::int as contacts from survey_tallies`;
  assert.equal(tally?.['contacts'], 3);
  const ids = await fresh<{ id: string }[]>`select id from graphile_worker._private_jobs`;
  assert.equal(new Set(ids.map(({ id }) => id)).size, 4);
});

/** The refusal to restore a file into a fresh database, which must stay empty. */
async function refusalOf(file: string): Promise<string> {
  const { db: fresh } = await databaseWithQueue();
  const refusal = await restore(fresh, file, simply).then(
    () => assert.fail('it was restored'),
    (error: Error) => error,
  );
  const [found] = await fresh`select to_regclass('organizations') as table`;
  if (found?.['table']) assert.equal((await fresh`select from organizations`).length, 0);
  return refusal.message;
}

test('a file that is cut short is rejected and changes nothing', async () => {
  const { db } = await deployment();
  const file = join(folder, 'cut');
  await backup(db, { archive, file, secretKey });
  const whole = readFileSync(file);
  for (const bytes of [0, 3, 100, whole.length - 40, whole.length - 1]) {
    writeFileSync(file, whole.subarray(0, bytes));
    const message = 'the backup cannot be restored: it is cut short, copy it again';
    assert.equal(await refusalOf(file), message, `${bytes} bytes`);
  }
});

test('a file with a damaged byte is rejected and changes nothing', async () => {
  const { db } = await deployment();
  const file = join(folder, 'damaged');
  await backup(db, { archive, file, secretKey });
  const bytes = readFileSync(file);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = bytes[at]! ^ 0xff;
  writeFileSync(file, bytes);
  assert.match(await refusalOf(file), /it is not a backup, or it is damaged$/);
});

test('another file type, a folder and a missing file are rejected', async () => {
  const file = join(folder, 'other');
  const foreign = 'the backup cannot be restored: it is not a backup, or it is damaged';
  writeFileSync(file, 'not a backup');
  assert.equal(await refusalOf(file), foreign);
  for (const text of ['plain text\n', '{"a":1}\n', '[]\n']) {
    writeFileSync(file, zstdCompressSync(text));
    assert.equal(await refusalOf(file), foreign, text);
  }
  assert.equal(await refusalOf(folder), 'the backup cannot be restored: it is a folder');
  const missing = join(folder, 'missing');
  const message = `the backup cannot be restored: there is no file ${missing}`;
  assert.equal(await refusalOf(missing), message);
});

test('a backup of another program is rejected', async () => {
  const { db } = await deployment();
  const file = join(folder, 'another');
  await backup(db, { archive: { ...archive, program: 'another' }, file, secretKey });
  const message = 'the backup cannot be restored: it is a backup of another';
  assert.equal(await refusalOf(file), message);
});

test('a backup overwrites only its own file and leaves no draft', async () => {
  const { db } = await deployment();
  const own = mkdtempSync(join(folder, 'own-'));
  const file = join(own, 'backup');
  writeFileSync(`${file}.part`, 'laid here by another user', { mode: 0o666 });
  writeFileSync(file, 'the backup before', { mode: 0o666 });
  await backup(db, { archive, file, secretKey });
  assert.deepEqual(readdirSync(own).sort(), ['backup', 'backup.part']);
  assert.equal(readFileSync(`${file}.part`, 'utf8'), 'laid here by another user');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a database with data is not overwritten', async () => {
  const { db } = await deployment();
  const file = join(folder, 'filled');
  await backup(db, { archive, file, secretKey });
  await assert.rejects(restore(db, file, simply), { message: /the database is not empty/ });
});

test('a failed step after the restore rolls it back', async () => {
  const { db } = await deployment();
  const file = join(folder, 'step');
  await backup(db, { archive, file, secretKey });
  const { db: fresh } = await databaseWithQueue();

  const failing = () => Promise.reject(new Error('no'));
  await assert.rejects(restore(fresh, file, { ...simply, afterRestore: [failing] }), {
    message: 'no',
  });

  const [left] = await fresh`select count(*)::int as organizations from organizations`;
  assert.equal(left?.['organizations'], 0);
});
