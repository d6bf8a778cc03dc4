import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Logger, run, type WorkerEvents } from 'graphile-worker';
import pg from 'pg';
import pino from 'pino';
import { isLostConnection, openConnections } from '../../../src/lib/queue/connections.ts';
import { testDatabase } from '../../support/probe/database.ts';

const { url } = await testDatabase();

/** Returns the error of work that must fail. */
async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );
}

async function connected(options: pg.ClientConfig = {}) {
  const client = new pg.Client({ connectionString: url, ...options });
  client.on('error', () => {});
  await client.connect();
  after(() => client.end().catch(() => {}));
  return client;
}

/** A server that does not speak the protocol of Postgres. */
async function serverThat(answer: Parameters<typeof createServer>[1]) {
  const server: Server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const { port } = server.address() as { port: number };
  return `postgres://someone@127.0.0.1:${port}/any`;
}

const lost: Record<string, () => Promise<unknown>> = {
  'a server that says nothing': async () => {
    const silent = await serverThat((socket) => after(() => socket.destroy()));
    return new pg.Client({ connectionString: silent, connectionTimeoutMillis: 50 }).connect();
  },
  'a server that closes at once': async () => {
    const closing = await serverThat((socket) => socket.end());
    return new pg.Client({ connectionString: closing }).connect();
  },
  'an answer that does not come': async () =>
    (await connected({ query_timeout: 50 })).query('select pg_sleep(30)'),
  'a client that was closed': async () => {
    const client = await connected();
    await client.end();
    return client.query('select 1');
  },
  'a client that is closed meanwhile': async () => {
    const client = await connected();
    const query = client.query('select pg_sleep(30)');
    (client as unknown as { connection: { stream: Server } }).connection.stream.emit('close');
    return query;
  },
  'a pool whose connections are taken': async () => {
    const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 50 });
    const taken = await pool.connect();
    after(async () => {
      taken.release();
      await pool.end();
    });
    return pool.connect();
  },
  'a pool that has ended': async () => {
    const pool = new pg.Pool({ connectionString: url });
    await pool.end();
    return pool.connect();
  },
};

for (const [what, work] of Object.entries(lost)) {
  test(`${what} is a lost connection`, async () => {
    const error = await errorOf(work());
    assert.ok(isLostConnection(error), String(error));
    assert.equal((error as { code?: unknown }).code, undefined);
  });
}

test('an error from Postgres is not a lost connection', async () => {
  const client = await connected();
  assert.ok(!isLostConnection(await errorOf(client.query('select nothing'))));
  assert.ok(!isLostConnection('Connection terminated'));
});

const socketOf = (client: pg.PoolClient) =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

test('a runner releases its connection once when its listener breaks', async (t) => {
  const log = pino({ enabled: false });
  const { pool } = openConnections({ url }, log);
  t.after(() => pool.end());
  const events: WorkerEvents = new EventEmitter();
  const options = { pgPool: pool, events, taskList: { nothing() {} }, noHandleSignals: true };
  const logger = new Logger(() => () => {});

  // The response to LISTEN is never read, because the connection breaks before.
  events.once('pool:listen:success', ({ client }) => socketOf(client).pause());
  const listening = once(events, 'pool:listen:success');
  const runner = await run({ ...options, logger, crontab: '' });
  await listening;
  events.once('pool:listen:release', ({ client }) => socketOf(client).destroy());
  const broken = once(events, 'pool:listen:error');
  const removed = once(pool, 'remove');
  await runner.stop();

  await Promise.all([broken, removed]);
  await setImmediate(); // a rejection without a handler fails the test
});
