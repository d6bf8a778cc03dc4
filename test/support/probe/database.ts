import { createHash, randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { connect, type Db } from '../../../src/lib/db/db.ts';
import { migrate, readMigrations } from '../../../src/lib/db/migrate.ts';
import { prepareQueue } from '../../../src/lib/queue/enqueue.ts';
import { throughPooler } from './pooler.ts';

const server = process.env['TEST_DATABASE_URL'];
if (!server) throw new Error('TEST_DATABASE_URL is not set: run the tests with `make test`');

/** A migrated, empty database for a test file, dropped at its end. Each test creates its own organization. */
export async function testDatabase(): Promise<{ db: Db; url: string }> {
  return await databaseFrom(template);
}

/** A database without any schema. */
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

/** Named after the migrations, so that it is only rebuilt when they change. */
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

/** Gets its name when it is complete, so that an interrupted build does not become the template. */
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

/** Shows queued jobs with their payloads to tests, which can also delete them. */
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
