import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

test('an answer with a comment enqueues no job and starts its deliveries', async () => {
  const started: string[] = [];
  const app = testApp(db, { deliveries: { start: (_, ids) => started.push(...ids) } });
  const org_id = await makeOrganization(db, { ai_enabled: true });
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  const webhook = await makeWebhook(db, org_id, { events: ['response.received'] });
  await makeContact(db, of);
  const token = `t${randomUUID().replaceAll('-', '')}`;
  await makeContact(db, of, { token });
  const { status } = await app.request(`/s/${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 9, comment: 'Good service' }),
  });
  assert.equal(status, 201);
  assert.deepEqual(started, [webhook]);
  const jobs = await db`select from test.jobs where payload ->> 'org_id' = ${org_id}`;
  const comments = await db`select from waiting_analyses where org_id = ${org_id}`;
  const deliveries = await db`select from pending_deliveries where org_id = ${org_id}`;
  assert.deepEqual([jobs.length, comments.length, deliveries.length], [0, 1, 1]);
});
