import { createHash, randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { connect, type Db } from '../../../src/lib/db/db.ts';
import { migrate, readMigrations } from '../../../src/lib/db/migrate.ts';
import { prepareQueue } from '../../../src/lib/queue/enqueue.ts';
import { throughPooler } from './pooler.ts';

const server = process.env['TEST_DATABASE_URL'];
if (!server) throw new Error('TEST_DATABASE_URL is not set: run the tests with `make test`');

/**
 * A migrated, empty database for one test file, dropped when the file ends.
 * The tests in the file keep apart by each making an organization of its own.
 */
export async function testDatabase(): Promise<{ db: Db; url: string }> {
  return await databaseFrom(template);
}

/** A database with nothing in it at all. */
export async function emptyDatabase(): Promise<{ db: Db; url: string }> {
  return await databaseFrom(async () => 'template1');
}

async function databaseFrom(source: (admin: Db) => Promise<string>) {
  const admin = connect(server!, { connections: 1 });
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await admin`create database ${admin(name)} template ${admin(await source(admin))}`;

  const url = urlOf(name);
  const through = throughPooler(url);
  const db = connect(through ?? url, { connections: 8, prepare: through === undefined });
  after(async () => {
    await db.end({ timeout: 1 });
    await admin`drop database ${admin(name)} with (force)`;
    await admin.end();
  });
  return { db, url };
}

/** Named after what is in it: a changed migration means a new template, an unchanged one no work. */
async function template(admin: Db): Promise<string> {
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(readMigrations()))
    .digest('hex')
    .slice(0, 16);
  const name = `test_template_${fingerprint}`;
  await admin`select pg_advisory_lock(hashtext('test template'))`;
  try {
    const [found] = await admin`select from pg_database where datname = ${name}`;
    if (!found) await build(admin, name);
  } finally {
    await admin`select pg_advisory_unlock(hashtext('test template'))`;
  }
  return name;
}

/** Under a working name first: a build that dies half-way must not be taken for a template. */
async function build(admin: Db, name: string) {
  const draft = `${name}_draft`;
  await admin`drop database if exists ${admin(draft)} with (force)`;
  await admin`create database ${admin(draft)} template template1`;
  const db = connect(urlOf(draft), { connections: 2 });
  await prepareQueue(db, { url: urlOf(draft) });
  await migrate(db);
  await showJobs(db);
  await db.end();
  await admin`alter database ${admin(draft)} rename to ${admin(name)}`;
}

/** The jobs of the queue with their payloads, for tests to read and to take. */
async function showJobs(db: Db) {
  await db`create schema test`;
  await db`
    create view test.jobs as
    select id, (select identifier from graphile_worker._private_tasks where id = task_id) as task,
           payload, run_at, created_at
    from graphile_worker._private_jobs`;
}

function urlOf(database: string): string {
  const url = new URL(server!);
  url.pathname = `/${database}`;
  return url.href;
}
