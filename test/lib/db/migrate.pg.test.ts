import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../../src/lib/db/db.ts';
import { migrate, readMigrations, schemaState } from '../../../src/lib/db/migrate.ts';
import { prepareQueue } from '../../../src/lib/queue/enqueue.ts';
import { emptyDatabase } from '../../support/probe/database.ts';

const future = { name: '9999_future.sql', text: 'create table future ()', sha256: 'f' };
const broken = { name: '9998_broken.sql', text: 'create table half (); select 1/0', sha256: 'b' };

test('concurrent processes apply each migration once', async () => {
  const { url } = await emptyDatabase();
  const processes = [1, 2, 3].map(() => connect(url, { connections: 2 }));

  const applied = await Promise.all(processes.map((db) => migrate(db)));

  assert.deepEqual(
    applied.flat(),
    readMigrations().map(({ name }) => name),
  );
  await Promise.all(processes.map((db) => db.end()));
});

test('rejects a database that is newer than the program', async () => {
  const { db } = await emptyDatabase();
  await migrate(db, [...readMigrations(), future]);

  await assert.rejects(migrate(db), { message: /newer than this program.*9999_future/ });
  const { missing, unknown } = await schemaState(db);
  assert.deepEqual({ missing, unknown }, { missing: [], unknown: [future.name] });
});

test('rejects a database of an unreleased version', async () => {
  const unreleased = {
    message: /created by an unreleased version of this program; start with an empty one/,
  };
  for (const old of [
    { ...future, name: '0000_times.sql' },
    { ...readMigrations()[0]!, sha256: 'other', text: 'select 1' },
  ]) {
    const { db } = await emptyDatabase();
    await migrate(db, [old]);
    await assert.rejects(migrate(db), unreleased);
  }
});

test('a failed migration leaves no trace', async () => {
  const { db } = await emptyDatabase();

  await assert.rejects(migrate(db, [broken]), { message: /division by zero/ });

  const [half] = await db`select to_regclass('half') as table`;
  assert.equal(half?.['table'], null);
  assert.deepEqual(await migrate(db, [future]), [future.name]);
});

test('migrate writes nothing if no migration is missing', async () => {
  const { db, url } = await emptyDatabase();
  await migrate(db);
  const reader = connect(`${url}${url.includes('?') ? '&' : '?'}default_transaction_read_only=on`, {
    connections: 2,
  });

  assert.deepEqual(await migrate(reader), []);
  await assert.rejects(migrate(reader, [...readMigrations(), future]), { message: /read-only/ });
  await reader.end();
});

test('migrate works while another role holds every advisory lock', async (t) => {
  const { db, url } = await emptyDatabase();
  const other = connect(url, { connections: 1 });
  t.after(() => other.end({ timeout: 1 }));
  await other`select pg_advisory_lock(hashtext(name)) from unnest(${['schema migrations', 'queue schema']}::text[]) name`;
  await prepareQueue(db, { url });
  assert.equal((await migrate(db)).length, readMigrations().length);
});
