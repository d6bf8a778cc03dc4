import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertWaitingSince } from '../../src/responses/waiting-analyses.ts';
import type { Analyst } from '../../src/summaries/analyst.ts';
import { analyze } from '../../src/summaries/comment-reader.ts';
import { countUnanalyzed } from '../../src/summaries/queries.ts';
import { makeFeedback, readingTools } from '../support/make/feedback.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';

const { db } = await testDatabase();
const start = new Date('2026-05-01T00:00:00Z');
const refusing = (later: boolean, waitMs = 0): Analyst => ({
  name: 'away',
  analyze: async () => ({ ok: false, why: 'away', later, waitMs }),
  write: async () => ({ ok: false, why: 'away', later, waitMs }),
});
const saying = (summary: string): Analyst => ({
  name: summary,
  analyze: async () => ({
    ok: true,
    value: { sentiment: 'neutral', themes: [], churn_risk: 'low', summary },
  }),
  write: async () => ({ ok: true, value: null }),
});

test('a comment is analyzed once', async () => {
  const org = await makeFeedback(db);
  const response_id = await org.answer(2, 'Terrible, it crashes. Bob is rude.', '2026-05-02');
  const [waiting] = await org.waiting();
  assert.equal(waiting?.response_id, response_id);

  await analyze(readingTools(db), { org_id: org.id, response_id, tries: 0 });
  await analyze(readingTools(db, saying('other')), { org_id: org.id, response_id, tries: 0 });

  const analyses = await org.analyses();
  assert.deepEqual(
    analyses.map(({ sentiment, provider }) => [sentiment, provider]),
    [['negative', 'built-in']],
  );
  assert.deepEqual([...(await org.waiting())], []);
});

/** An analyst that answers on demand. */
function byHand(late: Analyst) {
  const slow = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const analyst: Analyst = {
    ...late,
    analyze: async (remark) => {
      asked.resolve();
      await slow.promise;
      return await late.analyze(remark);
    },
  };
  return { analyst, asked: asked.promise, goOn: slow.resolve };
}

test('the first of two concurrent runs is kept', async () => {
  const org = await makeFeedback(db);
  const response_id = await org.answer(2, 'Terrible', '2026-05-02');
  const job = { org_id: org.id, response_id, tries: 0 };
  const { analyst, asked, goOn } = byHand(saying('late'));

  const running = analyze(readingTools(db, analyst), job);
  await asked;
  await analyze(readingTools(db, saying('early')), job);
  goOn();
  await running;

  assert.deepEqual(
    (await org.analyses()).map(({ summary }) => summary),
    ['early'],
  );
});

test('deleting a comment during its analysis discards the result', async () => {
  const org = await makeFeedback(db);
  const response_id = await org.answer(2, 'Terrible', '2026-05-02');
  const { analyst, asked, goOn } = byHand(saying('terrible'));

  const running = analyze(readingTools(db, analyst), { org_id: org.id, response_id, tries: 0 });
  await asked;
  await db`update responses set comment = null where id = ${response_id}`;
  goOn();
  await running;

  assert.deepEqual([...(await org.analyses())], []);
});

test('no analysis waits without a comment or while analysis is off', async () => {
  const [off, on] = [await makeFeedback(db, { ai_enabled: false }), await makeFeedback(db)];
  await off.answer(2, 'Terrible', '2026-05-02');
  await on.answer(2, null, '2026-05-02');
  assert.deepEqual([...(await off.waiting()), ...(await on.waiting())], []);
});

test('turning analysis off drops waiting comments', async () => {
  const org = await makeFeedback(db);
  const response_id = await org.answer(2, 'Terrible', '2026-05-02');
  await db`update organizations set ai_enabled = false where id = ${org.id}`;
  await analyze(readingTools(db), { org_id: org.id, response_id, tries: 0 });
  assert.equal((await org.analyses()).length, 0);
  assert.deepEqual([...(await org.waiting())], []);
});

test('an unavailable analyst is retried and finally given up', async () => {
  const org = await makeFeedback(db);
  const response_id = await org.answer(2, 'Terrible', '2026-05-02');
  const job = { org_id: org.id, response_id, tries: 0 };
  const { lines, log } = keptLog();
  const tools = { ...readingTools(db, refusing(true)), log };
  await analyze(tools, job);
  const tries = async () => (await org.waiting()).map((waiting) => waiting.tries);
  assert.deepEqual([await tries(), lines], [[1], []]);
  await analyze(tools, { ...job, tries: 9 });
  const line = ['warn', 'a comment was not analyzed', { response_id, why: 'away' }];
  assert.deepEqual([await tries(), lines], [[], [line]]);
  assert.equal(await countUnanalyzed(db, org.id, { start, end: null, askedAt: null }), 1);
});

test('a permanent refusal is not retried', async () => {
  const org = await makeFeedback(db);
  const response_id = await org.answer(2, 'Terrible', '2026-05-02');
  await analyze(readingTools(db, refusing(false)), { org_id: org.id, response_id, tries: 0 });
  assert.deepEqual([...(await org.waiting())], []);
});

test('honours the wait that the analyst asks for', async () => {
  const org = await makeFeedback(db);
  const response_id = await org.answer(2, 'Terrible', '2026-05-02');
  await analyze(readingTools(db, refusing(true, 1_200_000)), {
    org_id: org.id,
    response_id,
    tries: 0,
  });
  const [row] = await db<{ minutes: number }[]>`
    select round(extract(epoch from due_at - now()) / 60)::int as minutes
    from waiting_analyses
    where response_id = ${response_id}`;
  assert.equal(row?.minutes, 20);
});

test('reanalyzing the history keeps old results until new ones arrive', async () => {
  const org = await makeFeedback(db);
  await org.answer(2, 'Before that time', '2026-04-02');
  const response_id = await org.analyzed(2, 'Terrible', '2026-05-02', saying('old'));

  const { answers, asked_at } = await insertWaitingSince(db, org.id, start);
  await db`
    update analyses set analyzed_at = ${asked_at}::text::timestamptz where org_id = ${org.id}`;
  const job = { org_id: org.id, response_id, tries: 0, asked_at };
  const left = () => countUnanalyzed(db, org.id, { start, end: null, askedAt: asked_at });
  assert.deepEqual([answers, await left()], [1, 1]);

  await analyze(readingTools(db, refusing(false)), job);
  assert.deepEqual(
    (await org.analyses()).map(({ summary }) => summary),
    ['old'],
  );
  await analyze(readingTools(db, saying('new')), job);
  await analyze(readingTools(db, saying('newer')), job);
  assert.deepEqual(
    (await org.analyses()).map(({ summary }) => summary),
    ['new'],
  );
  assert.equal(await left(), 0);
});

test('finds themes of the organization, never names', async () => {
  const org = await makeFeedback(db, { people: ['Bob Miller'] });
  await db`insert into themes (org_id, name, words) values (${org.id}, 'Café', ${['lunch-break']})`;
  await org.analyzed(8, 'Bob Miller at the lunch break; mail bob@acme.test', '2026-05-02');
  const [analysis] = await org.analyses();
  assert.deepEqual(analysis?.themes, ['café']);
});
