import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read } = await makeClient(db);
  return { id, ...reader(app, read) };
}

test('the list returns public fields and counts', async () => {
  const org = await client();
  const created_at = new Date('2024-03-01T10:00:00.123Z');
  const over = { type: 'csat', audience: 'employee', created_at, updated_at: created_at };
  const id = await makeSurvey(db, org.id, over);
  const of = { org_id: org.id, survey_id: id };
  await makeContact(db, of, { sent_at: new Date(), status: 'sent' });
  await makeContact(db, of);
  await makeResponse(db, of, { score: 5 });

  const { data, meta } = await org.list('/api/v1/surveys');

  assert.deepEqual(data, [
    {
      id,
      name: 'Onboarding',
      question_text: 'How likely are you to recommend us?',
      from_name: 'Ann',
      from_email: 'ann@acme.test',
      status: 'active',
      type: 'csat',
      audience: 'employee',
      sent_count: 1,
      response_count: 1,
      created_at: '2024-03-01T10:00:00.123Z',
      updated_at: '2024-03-01T10:00:00.123Z',
    },
  ]);
  assert.deepEqual(meta, { page: 1, limit: 50, total: 1, next_cursor: null });
});

test('a survey includes its statistics', async () => {
  const org = await client();
  const id = await makeSurvey(db, org.id);
  const of = { org_id: org.id, survey_id: id };
  for (const score of [10, 10]) await makeResponse(db, of, { score });
  await makeResponse(db, of, { score: 2, category: 'detractor' });
  await makeResponse(db, of, { score: 0, category: 'detractor', held_reason: 'two scores opened' });

  const { data } = await org.json<{ data: Record<string, unknown> }>(`/api/v1/surveys/${id}`);

  assert.equal(data['reply_to'], 'ann@acme.test');
  assert.equal(data['response_count'], 3);
  assert.deepEqual(data['stats'], {
    total_responses: 3,
    avg_score: 7.33,
    promoters: 2,
    passives: 0,
    detractors: 1,
    nps: 33,
    interval: { low: -51.3, high: 84.7 },
  });
});

test('a survey without responses has no average and no score', async () => {
  const org = await client();
  const id = await makeSurvey(db, org.id);
  const { data } = await org.json<{ data: { stats: object } }>(`/api/v1/surveys/${id}`);
  assert.deepEqual(data.stats, {
    total_responses: 0,
    avg_score: null,
    promoters: 0,
    passives: 0,
    detractors: 0,
    nps: null,
    interval: null,
  });
});
