import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { migrate } from '../../src/lib/db/migrate.ts';
import { followReplica } from '../../src/lib/db/replica.ts';
import { makeClient, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { until } from '../support/probe/until.ts';
import { startCluster } from '../support/processes/cluster.ts';

const { primary, addReplica } = await startCluster({ after });
const db = connect(primary.url, { connections: 4 });
await migrate(db);
const server = await addReplica();
const limits = { statementMs: 60_000, idleInTransactionMs: 60_000 };
const replica = await followReplica({
  url: server.url,
  primary: db,
  connections: 4,
  limits,
  maxLagSeconds: 600,
  program: 'test',
});
after(async () => {
  await replica.stop();
  await db.end({ timeout: 1 });
});
await until('the replica is fresh', () => replica.isUsable());

/** Two processes with the same replica. */
const [one, other] = [testApp(db, { replica }), testApp(db, { replica })];
const client = await makeClient(db);
const tag = (name: string) =>
  one.request('/api/v1/tags', {
    method: 'POST',
    headers: { ...client.write, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  });

type Named = { data: { name: string }[] };
const tagsOf = async (headers = client.read) => {
  const answer = await other.request('/api/v1/tags', { headers });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as Named).data.map(({ name }) => name);
};

test('a client reads its own write through another process', async () => {
  for (let at = 0; at < 40; at++) {
    assert.equal((await tag(`tag ${at}`)).status, 201);
    assert.ok((await tagsOf()).includes(`tag ${at}`), `tag ${at}`);
  }
});

test('a stalled replica is skipped only for organizations that have written', async (t) => {
  const stranger = await makeClient(db);
  const survey = await makeSurvey(db, stranger.id);
  const admin = connect(server.url, { connections: 1 });
  t.after(() => admin.end());
  await until('the replica has the keys', async () => {
    const found = await admin`select from surveys where id = ${survey}`;
    return found.length === 1;
  });
  await admin`select pg_wal_replay_pause()`;
  await until('it pauses', async () => {
    const [row] = await admin<{ state: string }[]>`select pg_get_wal_replay_pause_state() as state`;
    return row!.state === 'paused';
  });

  assert.equal((await tag('written while it stands')).status, 201);
  assert.ok((await tagsOf()).includes('written while it stands'));
  await makeResponse(db, { org_id: stranger.id, survey_id: survey });
  const read = async (path: string) =>
    JSON.parse(await (await other.request(path, { headers: stranger.read })).text()) as {
      data: unknown[];
    };
  assert.equal((await read('/api/v1/responses')).data.length, 0);
  assert.equal((await read('/api/v1/responses/export?format=json')).data?.length ?? 0, 0);
  await admin`select pg_wal_replay_resume()`;
  await until(
    'the answer is replayed',
    async () => (await read('/api/v1/responses')).data.length === 1,
  );
});

test('reads continue when the replica dies', async () => {
  const names = await tagsOf();
  await server.kill();
  assert.deepEqual(await tagsOf(), names);
});
