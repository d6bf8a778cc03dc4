import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** The jobs that an answer with a comment adds, and the work that it leaves in tables of its own. */
async function answer(owner: string | null) {
  const app = testApp(db, { deliveries: { owner: () => owner, start: () => {} } });
  const org_id = await makeOrganization(db, { ai_enabled: true });
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  await makeWebhook(db, org_id, { events: ['response.received'] });
  await makeContact(db, of);
  const token = `t${randomUUID().replaceAll('-', '')}`;
  await makeContact(db, of, { token });
  const { status } = await app.request(`/s/${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 9, comment: 'Good service' }),
  });
  assert.equal(status, 201);
  const jobs = await db`select from test.jobs where payload ->> 'org_id' = ${org_id}`;
  const comments = await db`select from waiting_analyses where org_id = ${org_id}`;
  const deliveries = await db<{ claimed_by: string | null }[]>`
    select claimed_by from pending_deliveries where org_id = ${org_id}`;
  return {
    jobs: jobs.length,
    comments: comments.length,
    claimed: deliveries.map(({ claimed_by }) => claimed_by),
  };
}

for (const owner of ['lease-1', null]) {
  test(`an answer enqueues no job when its process ${owner ? 'delivers' : 'only answers'}`, async () => {
    assert.deepEqual(await answer(owner), { jobs: 0, comments: 1, claimed: [owner] });
  });
}
