import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { createPoolSlots, shareFairly } from '../../src/lib/db/fair-pool.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const { db, url } = await testDatabase();
const app = testApp(db);
const client = await makeClient(db);
const survey = await makeSurvey(db, client.id);

const post = (query: string, contacts: unknown[] = [{ email: 'ann@people.test' }], to = app) =>
  to.request(`/api/v1/surveys/${survey}/send${query}`, {
    method: 'POST',
    headers: { ...client.write, 'Content-Type': 'application/json' },
    body: JSON.stringify({ contacts }),
  });

const unclear = ['True', 'TRUE', '1', 'yes', 'on', 't', 'null', '', '%20true', 'true&dry_run=true'];
for (const value of [...unclear, 'false&dry_run=true', 'true&dry_run=false']) {
  test(`send with dry_run=${value} is refused`, async () => {
    const answer = await post(`?dry_run=${value}`);
    assert.equal(answer.status, 400);
    assert.match(((await answer.json()) as { error: string }).error, /^dry_run: must /);
    assert.equal((await db`select from contacts where survey_id = ${survey}`).length, 0);
  });
}

test('send with dry_run=true writes nothing', async () => {
  const answer = await post('?dry_run=true');
  assert.equal(answer.status, 200);
  const { data } = (await answer.json()) as { data: { sent: number } };
  assert.equal(data.sent, 1);
  assert.equal((await db`select from contacts where survey_id = ${survey}`).length, 0);
});

for (const name of ['dryrun', 'dryRun', 'Dry_Run', 'dry-run', 'dry_run[]', '_dry_run']) {
  test(`send with the misspelled ${name}=true is refused`, async () => {
    const answer = await post(`?${encodeURIComponent(name)}=true`);
    assert.equal(answer.status, 400);
    const { error } = (await answer.json()) as { error: string };
    assert.equal(error, `${name} is not a parameter: did you mean dry_run?`);
    assert.equal((await db`select from contacts where survey_id = ${survey}`).length, 0);
  });
}

test('results name invalid positions and ignored fields', async () => {
  const answer = await post('?dry_run=true', [
    { email: 'ann@people.test', propertes: { plan: 'pro' } },
    { emial: 'bob@people.test' },
    'cid@people.test',
    { email: 'dora@people.test', name: 'Dora', properties: {} },
  ]);
  const { data } = (await answer.json()) as { data: { results: Record<string, unknown>[] } };
  const shown = data.results.map(({ email, status, index, ignored }) => ({
    email,
    status,
    ...(index !== undefined && { index }),
    ...(ignored !== undefined && { ignored }),
  }));
  assert.deepEqual(shown, [
    { email: 'ann@people.test', status: 'sent', ignored: ['propertes'] },
    { email: '', status: 'invalid', index: 1, ignored: ['emial'] },
    { email: '', status: 'invalid', index: 2 },
    { email: 'dora@people.test', status: 'sent' },
  ]);
});

test('send without contacts is refused', async () => {
  const answer = await post('?dry_run=true', []);
  assert.equal(answer.status, 400);
  assert.match(((await answer.json()) as { error: string }).error, /at least one contact/);
});

test('send waits for the sends before it longer than another request', async (t) => {
  const connections = 8;
  const pool = connect(url, { connections });
  t.after(() => pool.end({ timeout: 0 }));
  const shared = testApp(shareFairly(pool, createPoolSlots(connections)));
  const sends: Promise<Response>[] = [];
  const send = async () => await post('?dry_run=true', undefined, shared);
  await db.begin(async (tx) => {
    await tx`select from surveys where id = ${survey} for update`;
    sends.push(send());
    await untilLockWaits(db);
    for (let n = 1; n < 10; n++) sends.push(send());
    await untilLockWaits(db, connections / 2);
    const read = await shared.request('/api/v1/surveys', { headers: client.read });
    assert.equal(read.status, 503);
  });
  const statuses = (await Promise.all(sends)).map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)], [200]);
});
