import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaignRunner, makeContacts } from '../support/make/campaigns.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Json = { data: Record<string, unknown> & { id: string }; error?: string; code?: string };

async function scene({ organization = {}, survey = {}, people = 3 } = {}) {
  const { id: orgId, read, write } = await makeClient(db, organization);
  const surveyId = await makeSurvey(db, orgId, survey);
  await makeContacts(db, { orgId, surveyId }, { count: people });
  const get = async (path: string) => {
    const answer = await app.request(`/api/v1${path}`, { headers: read });
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  const post = async (path: string, body?: object, headers: Record<string, string> = write) => {
    const init = body && { body: JSON.stringify(body) };
    const type = { 'Content-Type': 'application/json' };
    const options = { method: 'POST', headers: { ...headers, ...type }, ...init };
    const answer = await app.request(`/api/v1${path}`, options);
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  return { orgId, surveyId, read, get, post, ...campaignRunner(db, orgId) };
}

test('a campaign can be created, paused, resumed and listed', async () => {
  const { surveyId, get, post, workFor } = await scene();
  const ofSurvey = `/surveys/${surveyId}/campaigns`;
  const made = await post(ofSurvey, { name: 'Spring', per_hour: 100_000 });
  assert.equal(made.status, 202);
  const { id } = made.body.data;
  const { name, per_hour, total, remaining, status } = made.body.data;
  assert.deepEqual(
    [name, per_hour, total, remaining, status],
    ['Spring', 100_000, 3, 3, 'running'],
  );

  const act = async (word: string) => {
    const answer = await post(`/campaigns/${id}/${word}`);
    return [answer.status, answer.body.data?.['status']];
  };
  assert.deepEqual(await act('pause'), [200, 'paused']);
  assert.deepEqual(await act('resume'), [200, 'running']);
  await workFor(5);
  assert.equal((await get(`/campaigns/${id}`)).body.data['sent'], 3);
  const listed = (await get(ofSurvey)).body as unknown as { data: Json['data'][] };
  assert.deepEqual(
    listed.data.map((each) => [each.id, each['status']]),
    [[id, 'finished']],
  );
  const results = (await get(`/campaigns/${id}/results`)).body as unknown as {
    data: Json['data'][];
  };
  assert.deepEqual(
    results.data.map((each) => each['status']),
    ['sent', 'sent', 'sent'],
  );
  const over = await post(`/campaigns/${id}/pause`);
  assert.deepEqual([over.status, over.body.code], [409, 'campaign_over']);
});

test('results can be searched by address or name, not by pattern', async () => {
  const { orgId, surveyId, get, post, workFor } = await scene();
  await db`
    insert into contacts (org_id, survey_id, email, name, token)
    values (${orgId}, ${surveyId}, 'a_nn@people.test', 'Ann Eriksen', ${`t-${surveyId}`})`;
  const { id } = (await post(`/surveys/${surveyId}/campaigns`, {})).body.data;
  await workFor(3);
  const found = async (search: string) => {
    const query = new URLSearchParams({ search });
    const { body } = await get(`/campaigns/${id}/results?${query}`);
    const { data, meta } = body as unknown as { data: Json['data'][]; meta: { total: number } };
    return [meta.total, ...data.map(({ email }) => email)];
  };
  assert.deepEqual(await found('A_NN@'), [1, 'a_nn@people.test']);
  assert.deepEqual(await found('eriksen'), [1, 'a_nn@people.test']);
  for (const pattern of ['%', 'p_-', 'a%nn', '\\']) assert.deepEqual(await found(pattern), [0]);
  assert.equal((await found(''))[0], 4);
  assert.equal((await get(`/campaigns/${id}/results?search=%00`)).status, 400);
});

test('a dry run writes nothing and returns skip reasons', async () => {
  const { orgId, surveyId, get, post } = await scene();
  const [contact] = await db<{ email: string }[]>`
    select email from contacts where org_id = ${orgId} limit 1`;
  await db`
    insert into suppressions (org_id, email, kind) values (${orgId}, ${contact!.email}, 'unsubscribed')`;
  const path = `/surveys/${surveyId}/campaigns?dry_run=true`;
  const { status, body } = await post(path, { name: 'Spring', per_hour: 60 });
  assert.equal(status, 200);
  assert.deepEqual(body.data, {
    id: null,
    survey_id: surveyId,
    name: 'Spring',
    status: 'running',
    send_at: null,
    per_hour: 60,
    audience: null,
    total: 3,
    sent: 0,
    duplicates: 1,
    invalid: 0,
    failed: 0,
    remaining: 2,
    reason: null,
    created_at: null,
    started_at: null,
    finished_at: null,
    reasons: { unsubscribed: 1 },
  });
  const send_at = new Date(Date.now() + 3_600_000).toISOString();
  const later = (await post(path, { send_at })).body.data;
  assert.deepEqual([later['status'], later['send_at']], ['scheduled', send_at]);
  assert.notEqual(later['name'], 'Spring');
  const listed = (await get(`/surveys/${surveyId}/campaigns`)).body;
  assert.deepEqual(listed.data, []);
});

const refused: [what: string, over: object, body: object | undefined, status: number][] = [
  ['of a draft', { survey: { status: 'draft' } }, undefined, 400],
  ['over the monthly limit', { organization: { monthly_send_limit: 2 } }, undefined, 403],
  ['without pace', {}, { per_hour: 0 }, 400],
  ['at no time', {}, { send_at: 'tomorrow' }, 400],
];
for (const [what, over, body, status] of refused) {
  test(`rejects a campaign ${what}`, async () => {
    const { orgId, surveyId, post } = await scene(over);
    const answer = await post(`/surveys/${surveyId}/campaigns`, body);
    assert.equal(answer.status, status);
    assert.ok(answer.body.error);
    assert.equal((await db`select from campaigns where org_id = ${orgId}`).length, 0);
  });
}
