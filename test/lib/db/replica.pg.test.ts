import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect, one, type Sql } from '../../../src/lib/db/db.ts';
import { followReplica } from '../../../src/lib/db/replica.ts';
import { until } from '../../support/probe/until.ts';
import { startCluster } from '../../support/processes/cluster.ts';

const limits = { statementMs: 60_000, idleInTransactionMs: 60_000 };
const cluster = await startCluster({ after });
const { primary } = cluster;
let replica = await cluster.addReplica();
const db = connect(primary.url, { connections: 4 });
after(() => db.end({ timeout: 1 }));
await db`create table notes (id int)`;

async function follow(
  t: { after: (end: () => Promise<void>) => void },
  { url = replica.url, maxLagSeconds = 1 } = {},
) {
  const options = { connections: 2, limits, program: 'test', maxLagSeconds };
  const followed = await followReplica({ ...options, url, primary: db });
  t.after(() => followed.stop());
  return followed;
}

/** Writes a row and returns the WAL position after it. */
async function write(id: number): Promise<number> {
  await db`insert into notes values (${id})`;
  const rows = await db<{ at: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as at`;
  return one(rows).at;
}

const has = (id: number) => async (sql: Sql) =>
  (await sql`select from notes where id = ${id}`).length === 1;

test('a read on the replica contains every earlier write', async (t) => {
  const followed = await follow(t);
  await until('it is fresh', () => followed.isUsable());
  let there = 0;
  for (let id = 1; id <= 300; id++) {
    const found = await followed.read(await write(id), has(id));
    if (found) there++;
    assert.notEqual(found?.value, false);
  }
  t.diagnostic(`${there} of 300 reads were answered there`);
  const position = await write(1000);
  await until('it has replayed', () => followed.read(position, has(1000)));
});

test('a replica that stops replaying is skipped once it is too far behind', async (t) => {
  const followed = await follow(t);
  const patient = await follow(t, { maxLagSeconds: 600 });
  await until('both are fresh', () => followed.isUsable() && patient.isUsable());
  const admin = connect(replica.url, { connections: 1 });
  t.after(() => admin.end());
  await admin`select pg_wal_replay_pause()`;
  await until('it pauses', async () => {
    const rows = await admin<{ state: string }[]>`select pg_get_wal_replay_pause_state() as state`;
    return one(rows).state === 'paused';
  });
  const position = await write(2000);
  assert.equal(await patient.read(position, has(2000)), undefined);
  // On a busy machine a poll may get no response. The next one does.
  await until('an older reader is answered', async () => {
    const found = await patient.read(0, has(1));
    return found?.value;
  });
  const isBehind = () => /is \d+ seconds behind/.test(followed.problem() ?? '');
  await until('it is passed over', isBehind);
  await admin`select pg_wal_replay_resume()`;
  await until('it is used again', async () => {
    const found = await followed.read(position, has(2000));
    return found?.value;
  });
});

test('reads on a replica that hangs return within a second', async (t) => {
  const followed = await follow(t);
  await until('it is fresh', () => followed.isUsable());
  replica.pause();
  const begun = performance.now();
  const answers = await Promise.all([1, 2, 3, 4].map((id) => followed.read(0, has(id))));
  const waited = performance.now() - begun;
  t.diagnostic(`${Math.round(waited)} ms`);
  assert.deepEqual(answers, [undefined, undefined, undefined, undefined]);
  assert.match(followed.problem() ?? '', /does not answer|cannot be reached/);
  replica.resume();
  await until('it is used again', () => followed.isUsable());
});

test('a dead replica is skipped and used again when it is back', async (t) => {
  const followed = await follow(t);
  await until('it is fresh', () => followed.isUsable());
  await replica.kill();
  assert.equal(await followed.read(0, has(1)), undefined);
  await until('it is passed over', () => !followed.isUsable());
  replica = await cluster.restart(replica);
  await until('it is used again', () => followed.isUsable());
});

test('a writable server or another cluster is not a replica', async (t) => {
  const itself = await follow(t, { url: primary.url });
  // The first poll detects this, before the replica is returned.
  assert.equal(itself.problem(), 'points to the primary itself');
  const others = await startCluster(t);
  const stranger = await follow(t, { url: (await others.addReplica()).url });
  assert.equal(stranger.problem(), 'is not a replica of this primary');
  assert.equal(await stranger.read(0, has(1)), undefined);
});
