import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/platform/log.ts';
import { recordAnswer } from '../../src/responses/record.ts';
import type { Analyst } from '../../src/summaries/analyst.ts';
import { analyze, analyzeAgain } from '../../src/summaries/analyze.ts';
import { createBuiltinAnalyst } from '../../src/summaries/builtin.ts';
import { countUnanalyzed } from '../../src/summaries/queries.ts';
import { summarize, summarizeMonths } from '../../src/summaries/summarize.ts';
import { testDatabase } from '../support/database.ts';
import { makeOrganization, makeSurvey, makeWebhook } from '../support/make.ts';

const { db } = await testDatabase();
const may = { start: new Date('2026-05-01T00:00:00Z'), end: new Date('2026-06-01T00:00:00Z') };

const tools = (analyst: Analyst = createBuiltinAnalyst()) => ({
  db,
  log: createLog({ level: 'silent' }),
  analyst,
  redact: async (text: string) => text.replaceAll('Bob', '[name]'),
  pump: () => {},
});

async function organization(over: Record<string, unknown> = {}) {
  const id = await makeOrganization(db, { ai_enabled: true, ...over });
  const survey = await makeSurvey(db, id);
  const webhook = await makeWebhook(db, id);
  const answer = async (score: number, comment: string | null, at: string) => {
    const recorded = await recordAnswer(
      { db, pump: () => {} },
      {
        ...{ orgId: id, surveyId: survey, surveyType: 'nps', contact: null, score, comment },
        ...{ excerpt: null, heldReason: null, traceparent: null, at: new Date(at) },
      },
    );
    return recorded!.id;
  };
  return { id, name: 'Acme', time_zone: 'UTC', webhook, answer };
}

const jobsFor = (orgId: string) => db<{ payload: { response_id: string; tries: number } }[]>`
  select payload from outbox where task = 'summaries.analyze' and payload ->> 'org_id' = ${orgId}`;

const told = (webhook: string) => db<{ body: string }[]>`
  select body from deliveries where webhook_id = ${webhook} and event = 'summary.generated'`;

test('an answer with a comment is analyzed by a job, once', async () => {
  const org = await organization();
  const id = await org.answer(2, 'Terrible, it crashes. Bob is rude.', '2026-05-02');
  const [job] = await jobsFor(org.id);
  assert.equal(job?.payload.response_id, id);

  await analyze(tools(), { org_id: org.id, response_id: id, tries: 0 });
  await analyze(tools(), { org_id: org.id, response_id: id, tries: 0 });

  const analyses =
    await db`select sentiment, churn_risk, provider from analyses where org_id = ${org.id}`;
  assert.deepEqual(
    analyses.map((row) => ({ ...row })),
    [{ sentiment: 'negative', churn_risk: 'high', provider: 'built-in' }],
  );
});

test('an organization without analysis, or an answer without comment, makes no job', async () => {
  const [off, on] = [await organization({ ai_enabled: false }), await organization()];
  await off.answer(2, 'Terrible', '2026-05-02');
  await on.answer(2, null, '2026-05-02');
  assert.equal((await jobsFor(off.id)).length + (await jobsFor(on.id)).length, 0);
});

test('an analyst that is away is asked later, and in the end the answer stays without', async () => {
  const org = await organization();
  const id = await org.answer(2, 'Terrible', '2026-05-02');
  const away: Analyst = {
    name: 'away',
    analyze: async () => ({ ok: false, why: 'away', later: true }),
    write: async () => ({ ok: false, why: 'away', later: true }),
  };
  await analyze(tools(away), { org_id: org.id, response_id: id, tries: 0 });
  await analyze(tools(away), { org_id: org.id, response_id: id, tries: 5 });
  const tries = (await jobsFor(org.id)).map(({ payload }) => payload.tries);
  assert.deepEqual(tries, [0, 1]);
  assert.equal(await countUnanalyzed(db, org.id, may.start), 1);
});

test('history is analyzed again on demand', async () => {
  const org = await organization();
  const id = await org.answer(2, 'Terrible', '2026-05-02');
  await analyze(tools(), { org_id: org.id, response_id: id, tries: 0 });
  assert.equal(await countUnanalyzed(db, org.id, may.start), 0);
  assert.equal(await analyzeAgain({ db }, org.id, may.start), 1);
  assert.equal(await countUnanalyzed(db, org.id, may.start), 1);
});

test('a summary says how the period went, with nobody recognizable, and is told once', async () => {
  const org = await organization();
  await org.answer(10, null, '2026-04-15');
  for (const [score, comment] of [
    [10, 'Great support, thank you so much'],
    [2, 'Terrible support, Bob never answers'],
    [3, 'The support is slow and it crashes'],
    [9, null],
  ] as const) {
    const id = await org.answer(score, comment, '2026-05-10');
    await analyze(tools(), { org_id: org.id, response_id: id, tries: 0 });
  }

  const summary = await summarize(tools(), { organization: org, period: may, scheduled: false });

  assert.deepEqual([summary?.nps, summary?.previous_nps, summary?.responses], [0, 100, 4]);
  assert.equal(summary?.top_themes[0], 'support');
  assert.match(summary?.text ?? '', /From 1 May 2026 to 31 May 2026, Acme received 4 answers/);
  assert.match(summary?.text ?? '', /down 100 points from \+100/);
  assert.ok(!summary?.text.includes('Bob'));
  const events = await told(org.webhook);
  assert.equal(events.length, 1);
  assert.deepEqual(JSON.parse(events[0]!.body).nps, 0);
});

test('two processes write the summary of a month once and tell it once', async () => {
  const org = await organization({ created_at: new Date('2020-01-01') });
  await Promise.all([summarizeMonths(tools()), summarizeMonths(tools())]);
  await summarizeMonths(tools());

  const summaries = await db`select id from summaries where org_id = ${org.id} and scheduled`;
  assert.equal(summaries.length, 1);
  assert.equal((await told(org.webhook)).length, 1);
});

test('an organization that changed its clock is not told its last month again', async () => {
  const org = await organization({ created_at: new Date('2020-01-01') });
  await db`
    insert into summaries (org_id, scheduled, period_start, period_end, responses, text)
    select ${org.id}, true, start + interval '9 hours', start + interval '1 month 9 hours', 0, ''
    from (select date_trunc('month', now()) - interval '1 month' as start) m`;
  await summarizeMonths(tools());
  assert.equal((await told(org.webhook)).length, 0);
});

test('a period without answers has no false zero', async () => {
  const org = await organization();
  const summary = await summarize(tools(), { organization: org, period: may, scheduled: false });
  assert.equal(summary?.nps, null);
  assert.match(summary?.text ?? '', /received no answers/);
});

test('when the provider fails the template writes', async () => {
  const org = await organization();
  await org.answer(9, null, '2026-05-10');
  const failing: Analyst = {
    ...createBuiltinAnalyst(),
    write: async () => ({ ok: false, why: 'status 500', later: true }),
  };
  const wish = { organization: org, period: may, scheduled: false };
  assert.match((await summarize(tools(failing), wish))?.text ?? '', /received 1 answer/);
});
