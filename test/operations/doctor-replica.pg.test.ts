import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { migrate } from '../../src/lib/db/migrate.ts';
import type { Finding } from '../../src/operations/findings.ts';
import { startCluster } from '../support/processes/cluster.ts';
import { askback, secretKey, startService } from '../support/processes/program.ts';

const cluster = await startCluster({ after });
const { primary } = cluster;
const replica = await cluster.addReplica();
const db = connect(primary.url, { connections: 2 });
after(() => db.end({ timeout: 1 }));
await migrate(db);

async function findingOf(url: string): Promise<[status: string, message: string]> {
  const { stdout } = await askback(['doctor', '--json'], {
    DATABASE_URL: primary.url,
    ASKBACK_SECRET_KEY: secretKey,
    ASKBACK_READ_DATABASE_URL: url,
    ASKBACK_READ_MAX_LAG_SECONDS: '1',
  });
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  const found = checks.find(({ name }) => name === 'replica');
  return [found?.status ?? 'none', found?.message ?? ''];
}

test('doctor accepts a replica that follows the primary', async () => {
  const name = 'ASKBACK_READ_DATABASE_URL';
  assert.deepEqual(await findingOf(replica.url), ['ok', `${name} follows the primary`]);
});

test('doctor explains why a replica is not usable', async (t) => {
  const admin = connect(replica.url, { connections: 1 });
  await admin`select pg_wal_replay_pause()`;
  await admin.end();
  await db`create table newer (id int)`;
  const behind = await findingOf(replica.url);
  assert.equal(behind[0], 'warn');
  assert.match(behind[1], /is behind, by an unknown time; reads go to the primary/);
  await replica.kill();
  assert.match((await findingOf(replica.url))[1], /cannot be reached/);
  const others = await startCluster(t);
  const stranger = await others.addReplica();
  assert.match((await findingOf(stranger.url))[1], /is not a replica of this primary/);
  assert.match((await findingOf(others.primary.url))[1], /points to another writable server/);
});

test('serve warns about an unusable replica by its setting', async () => {
  const service = startService({
    DATABASE_URL: primary.url,
    ASKBACK_SECRET_KEY: secretKey,
    PORT: '0',
    ASKBACK_READ_DATABASE_URL: primary.url.replace('127.0.0.1', 'localhost'),
  });
  const line = await service.stderr.next(/^warning: /);
  assert.equal(
    line,
    'warning: ASKBACK_READ_DATABASE_URL points to the primary itself; reads go to the primary',
  );
  await service.stop();
});
