import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitDatabase } from '../../../src/lib/db/await-database.ts';
import { connect, type Db, isDatabaseAway, one } from '../../../src/lib/db/db.ts';
import { reachServers } from '../../../src/lib/db/servers.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { holdLease } from '../../../src/lib/queue/lease.ts';
import { until } from '../../support/probe/until.ts';
import { startCluster, type TestServer } from '../../support/processes/cluster.ts';
import { freePort } from '../../support/processes/free-port.ts';

const addressOf = (...ports: number[]) =>
  `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`)}/postgres?target_session_attrs=read-write`;

/** A pool that follows the writable server. */
function poolOf(t: { after: (end: () => Promise<void>) => void }, ...servers: { port: number }[]) {
  const url = addressOf(...servers.map(({ port }) => port));
  const route = reachServers(url);
  const db = connect(url, { connections: 4, socket: route.socket });
  t.after(async () => {
    await db.end({ timeout: 1 });
    await route.stop();
  });
  return { db, route, url };
}

const portOf = async (sql: Db) =>
  one(await sql<{ port: number }[]>`select current_setting('port')::int as port`).port;

const write = async (sql: Db) => {
  await sql`create table if not exists notes (id int)`;
  await sql`insert into notes values (1)`;
};

const writesGoOn = (sql: Db) =>
  until('writes go on', () =>
    write(sql).then(
      () => true,
      () => false,
    ),
  );

/** A statement would wait forever if its connection were not closed. */
const tooLate = () => sleep(60_000, 'still waiting', { ref: false });

/** Promotes the replica, like a cluster manager. */
async function promote(replica: TestServer) {
  const admin = connect(replica.url, { connections: 1 });
  await admin`select pg_promote()`;
  await admin.end();
}

test('uses the writable server, even behind a standby and a dead server', async (t) => {
  const { primary, addReplica } = await startCluster(t);
  const replica = await addReplica();
  const { db } = poolOf(t, { port: freePort() }, replica, primary);
  assert.equal(await portOf(db), primary.port);
  await write(db);
});

test('without a writable server, the error names each server', async (t) => {
  const { primary, addReplica } = await startCluster(t);
  const replica = await addReplica();
  await primary.kill();
  const { db } = poolOf(t, primary, replica);
  const sentence = new RegExp(`${primary.port} .*ECONNREFUSED.*${replica.port} takes no writes`);
  await assert.rejects(portOf(db), (error: Error) => {
    assert.match(error.message, sentence);
    return isDatabaseAway(error);
  });
  await assert.rejects(awaitDatabase(db, { seconds: 0, say: () => {} }), { message: sentence });
});

test('connects to the promoted server after the primary crashed', async (t) => {
  const { primary, addReplica } = await startCluster(t);
  const replica = await addReplica();
  const { db, route, url } = poolOf(t, primary, replica);
  await db`
    create table worker_pools (pool_id text, session text, session_role name, program text)`;
  await db`create function is_alive(worker_pools) returns boolean language sql return true`;
  const lease = await holdLease({ url, servers: route }, createLog({ level: 'fatal' }), 'test');
  t.after(() => lease.stop().catch(() => {}));
  assert.equal(await portOf(db), primary.port);

  await primary.kill();
  await promote(replica);
  const promoted = performance.now();
  await writesGoOn(db);
  t.diagnostic(`${Math.round(performance.now() - promoted)} ms after the promotion`);
  assert.equal(await portOf(db), replica.port);
  await until('there is a lease at the new primary', async () => {
    const held = await db`select from worker_pools where pool_id = ${lease.id()}`;
    return held.length === 1;
  });
});

test('closes connections to an unreachable server after a failover', async (t) => {
  const { primary, addReplica } = await startCluster(t);
  const replica = await addReplica();
  const { db } = poolOf(t, primary, replica);
  await write(db);
  await until('the replica has it', async () => {
    const admin = connect(replica.url, { connections: 1 });
    const found = await admin`select to_regclass('notes')::text as it`;
    await admin.end();
    return found[0]?.['it'] === 'notes';
  });
  primary.pause();
  const waiting = [1, 2, 3].map(() =>
    db`insert into notes values (2)`.then(() => 'written', isDatabaseAway),
  );

  await promote(replica);
  const promoted = performance.now();
  const ends = await Promise.all(waiting.map((each) => Promise.race([each, tooLate()])));
  assert.ok(ends.every((ended) => ended === true || ended === 'written'));
  await writesGoOn(db);
  t.diagnostic(`${Math.round(performance.now() - promoted)} ms after the promotion`);
  // A connection that was being made to the old server may break one more statement.
  const port = () => portOf(db).catch((error) => isDatabaseAway(error) && 'broken');
  const isThere = async () => (await port()) === replica.port;
  await until('reads go there', isThere);
  primary.resume();
  await until('reads stay there', isThere);
});

test('closes connections to an unreachable server without a failover', async (t) => {
  const { primary } = await startCluster(t);
  const { db } = poolOf(t, primary, { port: freePort() });
  await write(db);
  primary.pause();
  const waiting = db`insert into notes values (2)`.then(() => 'written', isDatabaseAway);
  assert.equal(await Promise.race([waiting, tooLate()]), true);
  primary.resume();
  await writesGoOn(db);
});

test('rejects servers of two clusters, which is not an outage', async (t) => {
  const [one, other] = [(await startCluster(t)).primary, (await startCluster(t)).primary];
  const { db } = poolOf(t, one, other);
  const sentence = new RegExp(
    `its hosts belong to different clusters, 127.0.0.1:${one.port} .* and 127.0.0.1:${other.port} |` +
      `its hosts belong to different clusters, 127.0.0.1:${other.port} .* and 127.0.0.1:${one.port} `,
  );
  await assert.rejects(portOf(db), (error: Error) => {
    assert.match(error.message, sentence);
    return !isDatabaseAway(error);
  });
});
