import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read } = await makeClient(db);
  const { json, status } = reader(app, read);
  const nps = async (query = '') =>
    (await json<{ data: Record<string, number | null> }>(`/api/v1/nps?${query}`)).data;
  const counts = async (query: string) => {
    const { promoters, passives, detractors } = await nps(query);
    return [promoters, passives, detractors];
  };
  return { id, nps, counts, status };
}

type Category = 'promoter' | 'passive' | 'detractor';

const answer = (org_id: string, survey_id: string, category: Category, over = {}) =>
  makeResponse(db, { org_id, survey_id }, { category, ...over });

test('the rollup counts all responses of the organization', async () => {
  const org = await client();
  const surveys = [await makeSurvey(db, org.id), await makeSurvey(db, org.id, { type: 'csat' })];
  for (const survey of surveys) await answer(org.id, survey, 'promoter');
  await answer(org.id, surveys[0]!, 'passive');
  await answer(org.id, surveys[0]!, 'detractor', { held_reason: 'trap' });

  assert.deepEqual(await org.nps(), {
    nps: 67,
    margin_of_error: 55,
    interval: { low: -21.7, high: 88.3 },
    total: 3,
    promoters: 2,
    passives: 1,
    detractors: 0,
    promoter_pct: 66.7,
    passive_pct: 33.3,
    detractor_pct: 0,
    held: 1,
  });
});

test('the score is null without responses, never 0', async () => {
  const org = await client();
  assert.deepEqual(await org.nps(), {
    nps: null,
    margin_of_error: null,
    interval: null,
    total: 0,
    promoters: 0,
    passives: 0,
    detractors: 0,
    promoter_pct: 0,
    passive_pct: 0,
    detractor_pct: 0,
    held: 0,
  });
});

test('the rollup filters by survey, type and audience', async () => {
  const org = await client();
  const customers = await makeSurvey(db, org.id);
  const employees = await makeSurvey(db, org.id, { audience: 'employee' });
  const csat = await makeSurvey(db, org.id, { type: 'csat' });
  const created_at = '2024-05-01T12:00:00Z';
  await answer(org.id, customers, 'promoter', { created_at });
  await answer(org.id, employees, 'passive', { created_at });
  await answer(org.id, csat, 'detractor', { created_at });

  const days = [
    '',
    '&date_from=2024-05-01',
    '&date_from=2024-05-01T11:00:00Z&date_to=2024-05-01T13:00Z',
  ];
  for (const dates of days) {
    assert.deepEqual(await org.counts(`survey_id=${employees}${dates}`), [0, 1, 0], dates);
    assert.deepEqual(await org.counts(`type=nps${dates}`), [1, 1, 0], dates);
    assert.deepEqual(await org.counts(`audience=employee${dates}`), [0, 1, 0], dates);
    assert.deepEqual(await org.counts(`audience=customer${dates}`), [1, 0, 1], dates);
    assert.deepEqual(await org.counts(`type=nps&audience=customer${dates}`), [1, 0, 0], dates);
    assert.deepEqual(await org.counts(`type=ces${dates}`), [0, 0, 0], dates);
    assert.deepEqual(await org.counts(`survey_id=${csat}&type=nps${dates}`), [0, 0, 0], dates);
  }
});

test('a range counts responses up to its exact ends', async () => {
  const org = await client();
  const survey = await makeSurvey(db, org.id);
  for (const time of [
    '2024-05-01T09:59:59.999999Z',
    '2024-05-01T10:00:00Z',
    '2024-05-02T00:00:00Z',
    '2024-05-03T10:00:00.000999Z',
    '2024-05-03T10:00:00.001Z',
    '2024-05-03T23:59:59.999999Z',
  ]) {
    const id = await answer(org.id, survey, 'promoter');
    await db`update responses set created_at = ${time}::text::timestamptz where id = ${id}`;
  }
  for (const scope of ['', `&survey_id=${survey}`]) {
    const total = async (query: string) => (await org.nps(query + scope))['total'];
    assert.equal(await total('date_from=2024-05-01T10:00:00Z&date_to=2024-05-03T10:00:00Z'), 3);
    assert.equal(await total('date_from=2024-05-02&date_to=2024-05-02'), 1);
    assert.equal(await total('date_from=2024-05-02&date_to=2024-05-03'), 4);
    assert.equal(await total('date_from=2024-05-01T10:00:00Z&date_to=2024-05-01'), 1);
    assert.equal(await total('date_from=2024-05-03&date_to=2024-05-01'), 0);
    assert.equal(await total('date_to=2024-05-01T12:00:00%2B02:00'), 2);
  }
});

test('responses on hold are counted separately, with the same filters', async () => {
  const org = await client();
  const [survey, other] = [await makeSurvey(db, org.id), await makeSurvey(db, org.id)];
  const held = { held_reason: 'hidden_link' };
  await answer(org.id, survey, 'passive', { ...held, created_at: '2024-05-01T12:00:00Z' });
  await answer(org.id, survey, 'passive', { ...held, created_at: '2024-05-03T12:00:00Z' });
  const heldIn = async (query: string) => (await org.nps(query))['held'];
  assert.equal(await heldIn(''), 2);
  assert.equal(await heldIn(`survey_id=${survey}&date_to=2024-05-02`), 1);
  assert.equal(await heldIn('date_from=2024-05-01T12:00:00Z&date_to=2024-05-03T11:59:59.999Z'), 1);
  assert.equal(await heldIn(`survey_id=${other}`), 0);
  assert.equal(await heldIn('type=csat'), 0);
});

test("another organization's responses are never counted", async () => {
  const [mine, theirs] = [await client(), await client()];
  const survey = await makeSurvey(db, theirs.id);
  await answer(theirs.id, survey, 'promoter', { created_at: '2024-05-01T10:00:00Z' });

  const range = 'date_from=2024-05-01T09:00:00Z&date_to=2024-05-01T11:00:00Z';
  const of = `survey_id=${survey}`;
  for (const query of ['', of, range, `${of}&${range}`, `${of}&date_from=2024-05-01`, 'type=nps']) {
    assert.equal((await mine.nps(query))['total'], 0, query);
  }
});

for (const query of ['type=smiley', 'audience=everybody', 'survey_id=x', 'date_to=tomorrow']) {
  test(`?${query} is refused`, async () => {
    const org = await client();
    assert.equal(await org.status(`/api/v1/nps?${query}`), 400);
  });
}
