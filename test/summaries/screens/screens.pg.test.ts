import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobPayloads } from '../../../src/jobs.ts';
import type { ScoreBlock } from '../../../src/summaries/blocks.ts';
import { periodFilters, periodText } from '../../../src/summaries/screens.tsx';
import { makeSummary } from '../../../src/summaries/summarize.ts';
import { makeFeedback, readingTools } from '../../support/make/feedback.ts';
import { bareApp } from '../../support/probe/app.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { memberBrowser } from '../../support/probe/member.ts';

const { db } = await testDatabase();

async function scene(role: 'viewer' | 'editor' = 'editor', over: Record<string, unknown> = {}) {
  const org = await makeFeedback(db, over);
  const browser = await memberBrowser(db, { app: bareApp(db), org: org.id, role });
  return { org, ...browser, list: `${browser.home}/summaries` };
}

type MakeJob = JobPayloads['summaries.make'];

async function requestsOf(orgId: string): Promise<MakeJob[]> {
  const rows = await db<{ payload: MakeJob }[]>`
    select payload from test.jobs where task = 'summaries.make' and payload ->> 'org_id' = ${orgId}`;
  return rows.map(({ payload }) => payload);
}

test('a requested summary is created once, by the member', async () => {
  const { org, list, submit, get } = await scene();
  await org.answer(10, 'Great', '2026-05-10');
  const asked = await submit(list, { date_from: '2026-05-01', date_to: '2026-05-31' });
  assert.match(await asked.text(), /Writing your summary/);
  const [job] = await requestsOf(org.id);
  await makeSummary(readingTools(db), job!, null);
  await makeSummary(readingTools(db), job!, null); // a job may run twice
  const rows = await db`select id, responses from summaries where org_id = ${org.id}`;
  assert.deepEqual([...rows], [{ id: job!.summary_id, responses: 1 }]);
  const [event] = await db`
    select actor_kind, actor, details from audit_events
    where org_id = ${org.id} and act = 'summary.created'`;
  const details = { first_day: '2026-05-01', last_day: '2026-05-31' };
  assert.deepEqual({ ...event }, { actor_kind: 'member', actor: 'Ann', details });
  assert.match(await (await get(list)).text(), />May 2026<\/a>/);
});

test('an invalid period returns 422', async () => {
  const { org, list, post } = await scene();
  for (const [form, sentence] of [
    [{ date_from: '2026-05-02', date_to: '2026-05-01' }, /Must not be before the first day\./],
    [{ date_from: '2026-02-30', date_to: '2026-05-01' }, /This date does not exist\./],
    [{ date_from: '0000-01-01', date_to: '2026-05-01' }, /This date does not exist\./],
    [{ date_from: '2026-05-01', date_to: '9999-12-31' }, /This date does not exist\./],
    [{ date_from: 'May', date_to: '' }, /Enter a date\./],
  ] as const) {
    const answer = await post(list, form);
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), sentence);
  }
  assert.deepEqual(await requestsOf(org.id), []);
});

/** The first of two blocks has a clear change. */
const blocks = (score: number, from: number): ScoreBlock[] => {
  const interval = { low: 21.5, high: 52 };
  const change = { from, by: score - from, interval: { low: 2, high: 18 }, is_clear: true };
  const nps = { type: 'nps', audience: 'customer', score, interval, n: 200, change } as const;
  return [nps, { ...nps, type: 'star5', score: 4.5, interval: null, n: 1, change: null }];
};

test('a period without responses returns 422', async () => {
  const { org, list, post } = await scene();
  await org.answer(10, 'Great', '2026-05-10');
  const answer = await post(list, { date_from: '2026-05-11', date_to: '2026-05-31' });
  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /No responses in this period\./);
  assert.deepEqual(await requestsOf(org.id), []);
});

test('a summary that includes today ends now', async () => {
  const { org, list, post } = await scene('editor', { time_zone: 'Asia/Tokyo' });
  const before = Date.now();
  await org.answer(10, 'Great', new Date(before).toISOString());
  const today = new Date(before + 9 * 3_600_000).toISOString().slice(0, 10);
  assert.equal((await post(list, { date_from: today, date_to: today })).status, 303);
  const [job] = await requestsOf(org.id);
  const end = Date.parse(job!.period_end);
  assert.ok(before <= end && end <= Date.now(), job!.period_end);
});

test('a summary shows changes since the previous period', async () => {
  const { org, list, get } = await scene();
  const may = await addSummary(org.id, { month: 5, nps: 40, blocks: blocks(40, 30) });
  const html = await (await get(`${list}/${may}`)).text();
  assert.match(html, /Up 10 points from \+30\./);
  assert.match(html, /95% interval \+21\.5 to \+52\.0.*200 responses\./);
  assert.match(html, /<dt>Stars of 5<\/dt><dd>4\.50, no earlier score[^<]*<span[^>]*>1 response</s);
});

test('summaries are listed by period', async () => {
  const { org, list, get } = await scene();
  for (const month of [5, 4, 6]) await addSummary(org.id, { month, nps: 10 });
  const mixed = { responses: 201, blocks: blocks(40, 30) };
  await addSummary(org.id, { month: 3, nps: 40, ...mixed });
  const html = await (await get(list)).text();
  const months = [...html.matchAll(/(April|May|June) 2026<\/a>/g)].map(([, month]) => month);
  assert.deepEqual(months, ['June', 'May', 'April']);
  const scored = [...html.matchAll(/>from (\d+) responses</g)].map(([, responses]) => responses);
  assert.deepEqual(scored, ['200']);
  await db`
    update summaries
    set text = ${'It went well.\n \nIn their words:\n- “Fast”\n- “<b>Dear</b>”'}
    where org_id = ${org.id}`;
  const [, href] = /href="([^"]*\/summaries\/[0-9a-f-]{36})"/.exec(html) ?? [];
  const page = await (await get(href!)).text();
  assert.match(
    page,
    /<p>It went well\.<\/p><p>In their words:<\/p><ul><li>“Fast”<\/li><li>“&lt;b&gt;Dear&lt;\/b&gt;”<\/li><\/ul>/,
  );
});

test('a whole month is shown by name, other periods by days', () => {
  const text = (from: string, to: string) =>
    periodText({ period_start: from, period_end: to }, 'Europe/Berlin');
  assert.equal(text('2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'), 'October 2026');
  assert.equal(
    text('2026-09-30T22:00:00Z', '2026-10-14T22:00:00Z'),
    '1 October 2026 to 14 October 2026',
  );
  assert.equal(text('2026-09-30T22:00:00Z', '2026-10-01T22:00:00Z'), '1 October 2026');
});

for (const [from, to, text] of [
  ['2026-12-01T00:00Z', '2027-01-01T00:00Z', 'December 2026'],
  ['2026-12-01T00:00Z', '2027-02-01T00:00Z', '1 December 2026 to 31 January 2027'],
  ['2025-12-01T00:00Z', '2027-01-01T00:00Z', '1 December 2025 to 31 December 2026'],
  ['2026-03-02T00:00Z', '2026-04-02T00:00Z', '2 March 2026 to 1 April 2026'],
  ['2026-03-01T00:00Z', '2026-04-02T00:00Z', '1 March 2026 to 1 April 2026'],
  ['2026-03-02T00:00Z', '2026-04-01T00:00Z', '2 March 2026 to 31 March 2026'],
  ['2026-03-01T01:00Z', '2026-04-01T00:00Z', '1 March 2026 to 31 March 2026'],
  ['2026-03-01T00:00Z', '2026-04-01T01:00Z', '1 March 2026 to 1 April 2026 at 01:00'],
  ['2026-03-01T00:01Z', '2026-04-01T00:00Z', '1 March 2026 to 31 March 2026'],
  ['2026-03-01T00:00Z', '2026-04-01T00:01Z', '1 March 2026 to 1 April 2026 at 00:01'],
] as const) {
  test(`${from} to ${to} is shown as ${text}`, () =>
    assert.equal(periodText({ period_start: from, period_end: to }, 'UTC'), text));
}

async function addSummary(
  orgId: string,
  { month, ...over }: { month: number; nps: number } & Record<string, unknown>,
) {
  const { blocks = [], ...columns } = over as { blocks?: ScoreBlock[] };
  const summary = {
    org_id: orgId,
    responses: 12,
    top_themes: [],
    text: 'It went well.',
    period_start: new Date(Date.UTC(2026, month - 1, 1)),
    period_end: new Date(Date.UTC(2026, month, 1)),
    ...columns,
    blocks: db.json(blocks as never),
  };
  const [row] = await db<{ id: string }[]>`insert into summaries ${db(summary)} returning id`;
  return row!.id;
}

test('response filters use whole days if possible', () => {
  const period = {
    period_start: '2026-04-30T22:00:00.000Z',
    period_end: '2026-05-31T22:00:00.000Z',
  };
  const inZone = (zone: string) => Object.fromEntries(periodFilters(period, zone));
  assert.deepEqual(inZone('Europe/Berlin'), { date_from: '2026-05-01', date_to: '2026-05-31' });
  assert.deepEqual(inZone('UTC'), {
    date_from: '2026-04-30T22:00:00.000Z',
    date_to: '2026-05-31T21:59:59.999Z',
  });
});
