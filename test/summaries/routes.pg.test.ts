import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { summarize } from '../../src/summaries/summarize.ts';
import { readingTools } from '../support/make/feedback.ts';
import { makeClient } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { idsByCursor, idsByPage, reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read } = await makeClient(db);
  const organization = { id, name: 'Acme', time_zone: 'UTC', ai_enabled: true };
  const summary = async (day: number) => {
    const period = { start: new Date(Date.UTC(2026, 4, day)), end: new Date(Date.UTC(2026, 5, 1)) };
    return (await summarize(readingTools(db), {
      organization,
      period,
      scheduled: false,
      actor: commandActor(),
    }))!.id;
  };
  return { ...reader(app, read), summary };
}

test('summaries are listed newest first, by page and cursor', async () => {
  const org = await client();
  const made: string[] = [];
  for (let day = 1; day <= 5; day++) made.unshift(await org.summary(day));
  const { meta } = await org.list('/api/v1/summaries?limit=2');
  assert.deepEqual([meta.page, meta.limit, meta.total], [1, 2, 5]);
  assert.deepEqual(await idsByPage(org.list, '/api/v1/summaries?limit=2'), made);
  assert.deepEqual(await idsByCursor(org.list, '/api/v1/summaries?limit=2'), made);
});

test('foreign and invalid ids return 404', async () => {
  const [mine, theirs] = [await client(), await client()];
  const id = await theirs.summary(1);
  assert.equal((await mine.list('/api/v1/summaries')).meta.total, 0);
  for (const unknown of [id, randomUUID(), 'x']) {
    const answer = await mine.get(`/api/v1/summaries/${unknown}`);
    assert.equal(answer.status, 404);
    assert.equal(((await answer.json()) as { error: string }).error, 'summary not found');
  }
});

for (const query of ['page=0', 'limit=x', 'cursor=nonsense']) {
  test(`rejects ?${query}`, async () => {
    assert.equal(await (await client()).status(`/api/v1/summaries?${query}`), 400);
  });
}

test('requires a key', async () => {
  assert.equal((await app.request('/api/v1/summaries')).status, 401);
});
