import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import type { JobPayloads } from '../../src/jobs.ts';
import { type Analyst, createBuiltinAnalyst } from '../../src/summaries/analyst.ts';
import { readComment } from '../../src/summaries/builtin.ts';
import { makeSummary, planMonths, summarize } from '../../src/summaries/summarize.ts';
import { makeFeedback, readingTools } from '../support/make/feedback.ts';
import { makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';

const { db } = await testDatabase();
const may = { start: new Date('2026-05-01T00:00:00Z'), end: new Date('2026-06-01T00:00:00Z') };
const { lines, log } = keptLog();
const tools = (analyst?: Analyst) => ({ ...readingTools(db, analyst), log });
const old = { created_at: new Date('2020-01-01') };
const writing = (value: string): Analyst => ({
  ...createBuiltinAnalyst(readComment),
  write: async () => ({ ok: true, value }),
});

/** An organization with a response in the last month. */
async function makeDueMonth(over: Record<string, unknown> = {}) {
  const org = await makeFeedback(db, { ...old, ...over });
  const [last] = await db<{ day: Date }[]>`
    select (date_trunc('month', now() at time zone time_zone) - interval '10 days') at time zone time_zone as day
    from organizations
    where id = ${org.id}`;
  const inLastMonth = last!.day.toISOString();
  await org.answer(9, null, inLastMonth);
  return { ...org, inLastMonth };
}

type SummaryJob = JobPayloads['summaries.make'];

/** Runs the hourly plan and takes the job of the organization. */
async function planMonth(org: { id: string }) {
  await planMonths(tools());
  return await takeJob(org);
}

async function takeJob(org: { id: string }) {
  const [job] = await db<{ payload: SummaryJob; seconds: number }[]>`
    delete from test.jobs
    where task = 'summaries.make' and payload ->> 'org_id' = ${org.id}
    returning payload, extract(epoch from run_at - created_at)::float8 as seconds`;
  return job;
}

async function summarizeMonth(org: { id: string }, using = tools()) {
  const job = await planMonth(org);
  if (job) await makeSummary(using, job.payload, null);
}

const summaryOf = async (org: Awaited<ReturnType<typeof makeFeedback>>, analyst?: Analyst) =>
  (await summarize(tools(analyst), {
    organization: org.organization,
    period: may,
    scheduled: false,
    actor: commandActor(),
  }))!;

test('a summary is redacted and published once', async () => {
  const org = await makeFeedback(db);
  await org.answer(10, null, '2026-04-15');
  await org.analyzed(10, 'Great support, thank you so much', '2026-05-10');
  await org.analyzed(2, 'Terrible support, Bob Miller never answers', '2026-05-10');
  await org.analyzed(3, 'The support is slow and it crashes', '2026-05-09');
  await org.answer(9, null, '2026-05-10');

  const { nps, previous_nps, responses, top_themes, text } = await summaryOf(org);

  assert.deepEqual([nps, previous_nps, responses], [0, 100, 4]);
  assert.equal(top_themes[0], 'support');
  assert.match(text, /From 1 May 2026 to 31 May 2026, Acme received 4 responses/);
  assert.match(text, /no clear change from \+100/);
  assert.match(text, /“Terrible support, \[name\] never answers” \(detractor\)/);
  const events = await org.events();
  assert.deepEqual(
    events.map(({ body }) => JSON.parse(body).nps),
    [0],
  );
});

test('a summary has one block per scale and the NPS of customers', async () => {
  const org = await makeFeedback(db);
  const of = { org_id: org.id, created_at: '2026-05-10T12:00Z' };
  const employees = await makeSurvey(db, org.id, { audience: 'employee' });
  const stars = await makeSurvey(db, org.id, { type: 'star5' });
  for (const score of [10, 9, 3]) await org.answer(score, null, '2026-05-10');
  for (const [survey_id, score, category] of [
    [employees, 0, 'detractor'],
    [stars, 5, 'promoter'],
    [stars, 1, 'detractor'],
  ] as const) {
    const { created_at, ...ids } = of;
    await makeResponse(db, { ...ids, survey_id }, { score, category, created_at });
  }
  const { nps, interval, responses, blocks } = await summaryOf(org);
  assert.deepEqual([nps, interval, responses], [33, { low: -51.3, high: 84.7 }, 6]);
  assert.deepEqual(
    blocks.map(({ type, audience, score, n, change }) => [type, audience, score, n, change]),
    [
      ['nps', 'customer', 33, 3, null],
      ['star5', 'customer', 3, 2, null],
      ['nps', 'employee', -100, 1, null],
    ],
  );
  const [event] = await org.events();
  assert.equal(JSON.parse(event!.body).nps, 33);

  const other = await makeFeedback(db);
  const survey_id = await makeSurvey(db, other.id, { type: 'csat' });
  await makeResponse(db, { org_id: other.id, survey_id }, { created_at: of.created_at, score: 5 });
  assert.partialDeepStrictEqual(await summaryOf(other), {
    nps: null,
    interval: null,
    responses: 1,
  });
});

test('a monthly summary uses the time zone of the organization', async () => {
  const org = await makeDueMonth({ time_zone: 'Pacific/Auckland' });
  await summarizeMonth(org);
  const [row] = await db`
    select period_start at time zone 'Pacific/Auckland' = date_trunc('month', period_start at time zone 'Pacific/Auckland')
           and period_end at time zone 'Pacific/Auckland' = date_trunc('month', now() at time zone 'Pacific/Auckland') as whole
    from summaries where org_id = ${org.id}`;
  assert.equal(row?.['whole'], true);
});

test('each organization with a month due gets a job', async () => {
  const [due, off, young] = [
    await makeDueMonth(),
    await makeDueMonth({ ai_enabled: false }),
    await makeDueMonth({ created_at: new Date() }),
  ];
  const planned = async () => {
    await planMonths(tools());
    const jobs = await Promise.all([due, off, young].map((org) => org.jobs('summaries.make')));
    return jobs.map((of) => of.length);
  };
  assert.deepEqual(await planned(), [1, 0, 0]);
  await summarizeMonth(due);
  assert.deepEqual(await planned(), [0, 0, 0]);
});

test('two processes write and publish a monthly summary once', async () => {
  const org = await makeDueMonth();
  const both = Promise.withResolvers<void>();
  let writing = 0;
  /** Waits until both have found the month due. */
  const analyst: Analyst = {
    ...createBuiltinAnalyst(readComment),
    write: async () => {
      writing += 1;
      if (writing === 2) both.resolve();
      await both.promise;
      return { ok: true, value: null };
    },
  };
  const [one, other] = [(await planMonth(org))!, (await planMonth(org))!];
  await Promise.all([one, other].map(({ payload }) => makeSummary(tools(analyst), payload, null)));
  await summarizeMonth(org);

  const summaries = await db`select id from summaries where org_id = ${org.id} and scheduled`;
  assert.deepEqual([writing, summaries.length, (await org.events()).length], [2, 1, 1]);
});

test('a crash before the commit leaves neither summary nor event', async () => {
  const org = await makeDueMonth();
  const dying = {
    ...tools(),
    db: new Proxy(db, {
      get: (target, name) =>
        name === 'begin'
          ? (mode: string, work: (tx: unknown) => Promise<unknown>) =>
              target.begin(mode, async (tx) => {
                await work(tx);
                throw new Error('killed');
              })
          : Reflect.get(target, name),
    }),
  };
  await assert.rejects(summarizeMonth(org, dying), /killed/);
  assert.equal((await org.events()).length, 0);
  await summarizeMonth(org);
  assert.equal((await org.events()).length, 1);
});

test('a monthly summary waits for pending analyses, each time twice as long', async () => {
  const org = await makeDueMonth();
  await org.answer(2, 'Terrible and slow', org.inLastMonth);
  let job = (await planMonth(org))!;
  const waits: number[] = [];
  for (let turn = 0; turn < 8; turn++) {
    await makeSummary(tools(), job.payload, null);
    job = (await takeJob(org))!;
    waits.push(Math.ceil(job.seconds / 10));
  }
  assert.deepEqual([(await org.events()).length, waits], [0, [1, 2, 4, 8, 16, 32, 64, 128]]);
  await makeSummary(tools(), job.payload, null);
  assert.equal((await org.events()).length, 1);
});

test('changing the time zone does not repeat a monthly summary', async () => {
  const org = await makeDueMonth();
  await db`
    insert into summaries (org_id, scheduled, period_start, period_end, responses, text)
    select ${org.id}, true, start + interval '9 hours', start + interval '1 month 9 hours', 0, ''
    from (select date_trunc('month', now()) - interval '1 month' as start) m`;
  await summarizeMonth(org);
  assert.equal((await org.events()).length, 0);
});

test('a period without responses has no NPS', async () => {
  const { nps, text } = await summaryOf(await makeFeedback(db));
  assert.equal(nps, null);
  assert.match(text, /received no responses/);
});

test('falls back to the template for invented numbers', async () => {
  const org = await makeFeedback(db);
  await org.answer(9, null, '2026-05-10');
  lines.length = 0;
  assert.match((await summaryOf(org, writing('An NPS of 73.'))).text, /received 1 response/);
  const line = 'the report of the analyst contains invented numbers, using the template';
  assert.deepEqual(lines, [['warn', line, {}]]);
});

test('nothing is sent to a provider while analysis is off', async () => {
  const org = await makeFeedback(db, { ai_enabled: false });
  await org.answer(9, 'Everything is very good here', '2026-05-10');
  assert.match((await summaryOf(org, writing('mine'))).text, /received 1 response/);
});
