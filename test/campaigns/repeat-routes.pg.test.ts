import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Answer = { data: Record<string, unknown>; error?: string };

async function scene() {
  const { id: orgId, write } = await makeClient(db);
  const surveyId = await makeSurvey(db, orgId);
  const call = async (path: string, body?: object) => {
    const headers = { ...write, 'Content-Type': 'application/json' };
    const init = body ? { method: 'PATCH', body: JSON.stringify(body) } : {};
    const answer = await app.request(`/api/v1${path}`, { headers, ...init });
    return { status: answer.status, body: (await answer.json()) as Answer };
  };
  return { orgId, surveyId, path: `/surveys/${surveyId}`, call };
}

test('repeat is stored with its defaults, returned, and accepted again', async () => {
  const { path, call } = await scene();
  const { body } = await call(path, { repeat: { every_days: 90 } });
  const repeat = { every_days: 90, audience: null, per_day: null, spread: true };
  assert.deepEqual(body.data['repeat'], repeat);
  const { status, body: again } = await call(path, { repeat: body.data['repeat'] });
  assert.deepEqual([status, again.data['repeat']], [200, repeat]);
  assert.equal((await call(path, { repeat: null })).body.data['repeat'], null);
});

const mistakes: [repeat: unknown, says: RegExp][] = [
  [{ every_days: 6 }, /every_days: must be a whole number from 7 to 730/],
  [{ every_days: 731 }, /every_days/],
  [{ every_days: '30' }, /every_days/],
  [{}, /every_days/],
  [{ every_days: 30, per_day: 0 }, /per_day/],
  [{ every_days: 30, spread: 'yes' }, /spread: must be true or false/],
  [{ every_days: 30, audience: 'everybody' }, /audience: must be "people"/],
  [{ every_days: 30, audience: { segment_id: randomUUID() } }, /no such segment/],
  ['quarterly', /repeat: must be an object/],
];

test('repeat rejects invalid values with a sentence and keeps the survey', async () => {
  const { path, call } = await scene();
  for (const [repeat, says] of mistakes) {
    const { status, body } = await call(path, { repeat });
    assert.equal(status, 400, JSON.stringify(repeat));
    assert.match(body.error!, says);
  }
  assert.equal((await call(path)).body.data['repeat'], null);
});

test('the schedule has 30 days, and returns 404 for another survey', async () => {
  const { orgId, surveyId, path, call } = await scene();
  const sent_at = new Date(Date.now() - 86_400_000);
  await makeContact(db, { org_id: orgId, survey_id: surveyId }, { status: 'sent', sent_at });
  await call(path, { repeat: { every_days: 7, spread: false } });
  const { days } = (await call(`${path}/schedule`)).body.data as {
    days: { date: string; count: number }[];
  };
  assert.equal(days.length, 30);
  assert.equal(days[0]!.date, new Date().toISOString().slice(0, 10));
  assert.deepEqual(
    days.flatMap(({ count }, day) => (count > 0 ? [[day, count]] : [])),
    [6, 13, 20, 27].map((day) => [day, 1]),
  );
  assert.equal((await call(`/surveys/${randomUUID()}/schedule`)).status, 404);
});

test('round filters responses, nps and trend', async () => {
  const { orgId, surveyId, call } = await scene();
  const of = { org_id: orgId, survey_id: surveyId };
  for (const [round, score, category] of [
    [1, 2, 'detractor'],
    [2, 10, 'promoter'],
  ] as const) {
    const email = 'ann@people.test';
    const contact_id = await makeContact(db, of, { email, round, superseded: round === 1 });
    await makeResponse(db, of, { contact_id, score, category });
  }
  await makeResponse(db, of, { score: 10, category: 'promoter', source: 'share' });
  const totals = async (query: string) => {
    const list = await call(`/responses?survey_id=${surveyId}${query}`);
    const nps = await call(`/nps?survey_id=${surveyId}${query}`);
    const rounds = (list.body.data as unknown as { round: number | null }[]).map(
      (each) => each.round,
    );
    return [rounds.sort(), nps.body.data['total']];
  };
  assert.deepEqual(await totals(''), [[1, 2, null], 3]);
  assert.deepEqual(await totals('&round=1'), [[1], 1]);
  assert.deepEqual(await totals('&round=2'), [[2], 1]);
  assert.deepEqual(await totals('&round=3'), [[], 0]);
  const trend = await call(`/nps/trend?survey_id=${surveyId}&round=2&interval=month`);
  const rows = trend.body.data as unknown as { total: number }[];
  assert.equal(
    rows.reduce((sum, { total }) => sum + total, 0),
    1,
  );
  assert.equal((await call('/responses?round=0')).status, 400);
});
