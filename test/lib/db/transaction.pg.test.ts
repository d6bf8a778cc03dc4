import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  connect,
  inReadTransaction,
  inTransaction,
  one,
  serviceLimits,
} from '../../../src/lib/db/db.ts';
import { migrate } from '../../../src/lib/db/migrate.ts';
import { emptyDatabase } from '../../support/probe/database.ts';

const { db, url } = await emptyDatabase();
await db`create table notes (text text)`;

test('a transaction is read committed, whatever the default of the database', async () => {
  const address = new URL(url);
  address.searchParams.set('default_transaction_isolation', 'serializable');
  const strict = connect(address.href, { connections: 1 });
  try {
    const [outside] = await strict`show transaction_isolation`;
    assert.equal(outside?.['transaction_isolation'], 'serializable');
    for (const begin of [inTransaction, inReadTransaction]) {
      const [inside] = await begin(strict, async (tx) => await tx`show transaction_isolation`);
      assert.equal(inside?.['transaction_isolation'], 'read committed');
    }
  } finally {
    await strict.end();
  }
});

test('a read-only transaction rejects writes', async () => {
  const writing = inReadTransaction(db, (tx) => tx`insert into notes values ('no')`);
  await assert.rejects(writing, { code: '25006' });
});

test('statements and idle transactions of the service may take a minute', async () => {
  const limited = connect(url, { connections: 1, limits: serviceLimits });
  try {
    const [limits] = await limited`
      select current_setting('statement_timeout')::interval::text as statement,
             current_setting('idle_in_transaction_session_timeout')::interval::text as idle`;
    assert.deepEqual({ ...limits }, { statement: '00:01:00', idle: '00:01:00' });
  } finally {
    await limited.end();
  }
});

test('the limits of a connection end statements, but not migrations', async () => {
  const limits = { statementMs: 2000, idleInTransactionMs: 1000 };
  const limited = connect(url, { connections: 2, limits });
  try {
    await assert.rejects(limited`select pg_sleep(30)`, { code: '57014' });
    const never = Promise.withResolvers<void>();
    const idle = inTransaction(limited, () => never.promise);
    await assert.rejects(idle);
    never.resolve();

    const text = 'select pg_sleep(2.5)';
    assert.deepEqual(await migrate(limited, [{ name: 'slow', text, sha256: 'x' }]), ['slow']);
    const { statement_timeout } = one(await limited`show statement_timeout`);
    assert.equal(statement_timeout, '2s');
  } finally {
    await limited.end();
  }
});
