import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { createLog, type Log } from '../../src/lib/log/log.ts';
import type { Analyst } from '../../src/summaries/analyst.ts';
import { createAnalystQueue, createCommentReader } from '../../src/summaries/comment-reader.ts';
import { recordSpans } from '../support/fakes/tracer.ts';
import { makePool } from '../support/make/deliveries.ts';
import { makeFeedback, readingTools } from '../support/make/feedback.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();

beforeEach(() => db`delete from waiting_analyses`);

type Asked = { orgId: string; comment: string };

/** Records its requests and answers after `before`. */
function recordingAnalyst(before: (asked: Asked) => Promise<unknown> = async () => {}) {
  const asked: Asked[] = [];
  const value = { sentiment: 'neutral', themes: [], churn_risk: 'low', summary: 'x' } as const;
  const analyst: Analyst = {
    name: 'recording',
    async analyze({ orgId, comment }) {
      asked.push({ orgId, comment });
      await before({ orgId, comment });
      return { ok: true, value: { ...value, themes: [] } };
    },
    write: async () => ({ ok: true, value: null }),
  };
  return { analyst, asked };
}

const silent = createLog({ level: 'silent' });

const readerOf = (
  analyst: Analyst,
  claimer: string,
  { log = silent, atOnce = 8 }: { log?: Log; atOnce?: number } = {},
) =>
  createCommentReader({
    ...readingTools(db, analyst),
    log,
    redact: async (text: string) => text,
    claimer: () => claimer,
    analystQueue: createAnalystQueue({
      db,
      limits: { slots: atOnce, reserve: atOnce / 4 },
    }),
  });

type Feedback = Awaited<ReturnType<typeof makeFeedback>>;

async function addHistory({ id, survey }: Feedback, comments: number) {
  await db`
    with past as (
      insert into responses (org_id, survey_id, source, score, category, comment, created_at)
      select ${id}, ${survey}, 'import', 9, 'promoter', 'past ' || n, now() - interval '1 day'
      from generate_series(1, ${comments}) n
      returning org_id, id
    )
    insert into waiting_analyses (org_id, response_id, is_history)
    select org_id, id, true from past`;
}

const isAnalyzed = async (org: Feedback) => (await org.analyses()).length === 1;
const now = () => new Date().toISOString();

test('a long history delays no comment of another organization', async () => {
  const [many, other] = [await makeFeedback(db), await makeFeedback(db)];
  await addHistory(many, 3000);
  await other.answer(9, 'A single comment', now());
  const { analyst, asked } = recordingAnalyst();
  const reader = readerOf(analyst, await makePool(db));

  await reader.sweep();
  await until('the single comment is analyzed', () => isAnalyzed(other));
  const before = asked.findIndex(({ orgId }) => orgId === other.id);
  await reader.stop();
  assert.ok(before < 200, `${before} of the other organization came before it`);
});

test('hanging comments of another organization delay nothing', async () => {
  const [many, other] = [await makeFeedback(db), await makeFeedback(db)];
  await addHistory(many, 100);
  await other.answer(9, 'A single comment', now());
  const hanging = Promise.withResolvers<void>();
  const { analyst } = recordingAnalyst(async ({ orgId }) => {
    if (orgId === many.id) await hanging.promise;
  });
  const reader = readerOf(analyst, await makePool(db));

  await reader.sweep();
  await until('the single comment is analyzed', () => isAnalyzed(other));
  hanging.resolve();
  await until('the history is analyzed', async () => (await many.waiting()).length === 0);
  assert.equal((await many.analyses()).length, 100);
  await reader.stop();
});

test('new comments come before the history', async () => {
  const org = await makeFeedback(db);
  await addHistory(org, 40);
  await org.answer(9, 'A new comment', now());
  const { analyst, asked } = recordingAnalyst();
  const reader = readerOf(analyst, await makePool(db), { atOnce: 1 });
  await reader.sweep();
  await until('all are analyzed', async () => (await org.waiting()).length === 0);
  await reader.stop();
  const mine = asked.filter(({ orgId }) => orgId === org.id);
  assert.equal(mine[0]?.comment, 'A new comment');
});

test('only comments of a dead process are taken over', async () => {
  const [ofDead, ofLiving] = [await makeFeedback(db), await makeFeedback(db)];
  await addHistory(ofDead, 3);
  await addHistory(ofLiving, 3);
  const living = await makePool(db);
  await db`update waiting_analyses set claimed_by = 'lease-dead' where org_id = ${ofDead.id}`;
  await db`update waiting_analyses set claimed_by = ${living} where org_id = ${ofLiving.id}`;
  const { analyst, asked } = recordingAnalyst();
  const reader = readerOf(analyst, await makePool(db));

  await reader.sweep();
  await until('all of it is analyzed', async () => (await ofDead.waiting()).length === 0);
  await reader.stop();
  assert.equal(asked.filter(({ orgId }) => orgId === ofDead.id).length, 3);
  assert.equal(asked.filter(({ orgId }) => orgId === ofLiving.id).length, 0);
});

test('a stopping process finishes what it has started', async () => {
  const org = await makeFeedback(db);
  await addHistory(org, 100);
  const hanging = Promise.withResolvers<void>();
  const { analyst, asked } = recordingAnalyst(() => hanging.promise);
  const reader = readerOf(analyst, await makePool(db));
  await reader.sweep();
  await until('some have begun', () => asked.length > 0);
  const stopped = reader.stop();
  const claimed = async () =>
    (await db`select from waiting_analyses where org_id = ${org.id} and claimed_by is not null`)
      .length;
  await until('the rest is given back', async () => (await claimed()) === asked.length);
  hanging.resolve();
  await stopped;
  assert.equal((await org.analyses()).length, asked.length);
  assert.equal((await org.waiting()).length, 100 - asked.length);
  assert.equal(await claimed(), 0);
});

test('a failing analysis is retried and finally given up', async (t) => {
  const spans = recordSpans(t);
  const org = await makeFeedback(db);
  await addHistory(org, 2);
  await db`
    update waiting_analyses set tries = 9
    where response_id = (select min(response_id::text)::uuid from waiting_analyses where org_id = ${org.id})`;
  const { analyst } = recordingAnalyst(async () => {
    throw new Error('a fault');
  });
  const reader = readerOf(analyst, await makePool(db));
  await reader.sweep();
  await until('each has been tried', async () => (await org.waiting()).length === 1);
  await until('the other waits', async () => (await org.waiting())[0]?.tries === 1);
  await reader.stop();
  const runs = spans.map(({ attributes }) => attributes['askback.job.attempt']);
  assert.deepEqual(runs.toSorted(), [1, 10]);
  assert.equal((await org.analyses()).length, 0);
});

test('a sweep continues where the previous one ended', async () => {
  await db`
    with organization as (
      insert into organizations (name, slug, ai_enabled)
      select 'Acme', gen_random_uuid()::text, true from generate_series(1, 202)
      returning id
    ), survey as (
      insert into surveys (org_id, name, question_text, from_name, from_email, reply_to, share_id)
      select id, 'One', 'One?', 'Ann', 'ann@acme.test', 'ann@acme.test', gen_random_uuid()::text from organization
      returning org_id, id
    ), response as (
      insert into responses (org_id, survey_id, score, category, comment)
      select org_id, id, 9, 'promoter', 'Fine' from survey
      returning org_id, id
    )
    insert into waiting_analyses (org_id, response_id, due_at)
    select org_id, id, now() - interval '1 hour' from response`;
  const hanging = Promise.withResolvers<void>();
  const reader = readerOf(recordingAnalyst(() => hanging.promise).analyst, await makePool(db));
  const unclaimed = async () =>
    (await db`select from waiting_analyses where claimed_by is null`).length;
  await reader.sweep();
  await until('the first are claimed', async () => (await unclaimed()) === 2);
  await reader.sweep();
  await until('the last are claimed', async () => (await unclaimed()) === 0);
  hanging.resolve();
  await reader.stop();
});
