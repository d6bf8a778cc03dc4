import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

type Given = { owner: string | null; subscribed: boolean; isLast: boolean };

/** How often an answer with a comment has called the pump, and the jobs that it left in the outbox. */
async function answer({ owner, subscribed, isLast }: Given) {
  let pumped = 0;
  const pump = () => {
    pumped += 1;
  };
  const app = testApp(db, { pump, deliveries: { owner: () => owner, start: () => {} } });
  const org_id = await makeOrganization(db, { ai_enabled: true });
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  if (subscribed) await makeWebhook(db, org_id, { events: ['response.received'] });
  if (!isLast) await makeContact(db, of);
  const token = `t${randomUUID().replaceAll('-', '')}`;
  await makeContact(db, of, { token });
  const { status } = await app.request(`/s/${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 9, comment: 'Good service' }),
  });
  assert.equal(status, 201);
  const jobs = await db`
    select task from outbox where payload ->> 'org_id' = ${org_id} order by task`;
  const waiting = await db`select from waiting_analyses where org_id = ${org_id}`;
  return { pumped, jobs: jobs.map(({ task }) => task as string), waiting: waiting.length };
}

test('an answer whose comment is analyzed has it wait in a table of its own, without the pump', async () => {
  const given = { owner: randomUUID(), subscribed: true, isLast: false };
  assert.deepEqual(await answer(given), { pumped: 0, jobs: [], waiting: 1 });
});

test('deliveries that another process attempts, and a survey that completes, go to the queue at once', async () => {
  const elsewhere = await answer({ owner: null, subscribed: true, isLast: false });
  assert.deepEqual(elsewhere, { pumped: 1, jobs: ['webhooks.deliver'], waiting: 1 });
  const last = await answer({ owner: randomUUID(), subscribed: false, isLast: true });
  assert.equal(last.pumped, 1);
});
