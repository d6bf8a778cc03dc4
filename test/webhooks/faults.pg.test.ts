import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptOutcome } from '../../src/webhooks/deliver.ts';
import {
  type ClaimedDelivery,
  claimDue,
  type WebhookRef,
} from '../../src/webhooks/delivery.queries.ts';
import { record } from '../../src/webhooks/record.ts';
import { judge } from '../../src/webhooks/rules.ts';
import { answerOf, subscriber } from '../support/fakes/subscriber.ts';
import { answerThrough, linkOf } from '../support/make/answers.ts';
import {
  countDeliveries,
  emitOwned,
  makeBacklog,
  makePool,
  workerOf,
} from '../support/make/deliveries.ts';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { keptLog } from '../support/probe/log.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();

const outcomeOf = (delivery: ClaimedDelivery, status: number): AttemptOutcome => ({
  delivery,
  answer: answerOf(status),
  verdict: judge(
    { ...answerOf(status), event: delivery.event, number: delivery.attempts + 1 },
    { retries: 'standard', random: 0.5 },
  ),
  at: new Date(),
  traceparent: null,
});

const claimAll = async (target: WebhookRef) =>
  await claimDue(db, target, { by: await makePool(db), atMost: 100, known: [] });

const makeDue = (target: WebhookRef) => db`
  update pending_deliveries set next_attempt_at = now()
  where webhook_id = ${target.webhook_id}`;

/** Terminates sessions that wait for a lock, so that their statements roll back without an answer. */
const endWaitingSessions = () => db`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

const cancelWaiting = () => db`
  select pg_cancel_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

test('recording a first attempt late does not undo the second', async () => {
  const target = await makeBacklog(db, 1);
  const late = (await claimAll(target)).map((delivery) => outcomeOf(delivery, 500));
  await record(db, target, late);
  await makeDue(target);
  const second = await claimAll(target);

  await record(db, target, late);
  const [delivery] = await db`
    select attempts, claimed_by is not null as claimed from deliveries
    where webhook_id = ${target.webhook_id}`;
  assert.deepEqual({ ...delivery }, { attempts: 1, claimed: true });

  await record(
    db,
    target,
    second.map((each) => outcomeOf(each, 200)),
  );
  assert.equal(await countDeliveries(db, target, 'delivered'), 1);
});

test('a process recovers a claim whose answer was lost', async () => {
  const target = await makeBacklog(db, 3);
  const by = await makePool(db);
  await claimDue(db, target, { by, atMost: 3, known: [] });

  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, by);
  await worker.wake(target);
  await worker.stop();

  assert.equal(posts.length, 3);
  assert.equal(await countDeliveries(db, target, 'delivered'), 3);
});

test('failed claims are retried, and the outage is logged', async () => {
  const target = await makeBacklog(db, 1);
  const { lines, log } = keptLog();
  const worker = workerOf(db, subscriber(200).outbound, await makePool(db), log);
  await db.begin(async (tx) => {
    await tx`lock table worker_pools in access exclusive mode`;
    for (const end of [endWaitingSessions, cancelWaiting]) {
      const failed = assert.rejects(worker.wake(target));
      await untilLockWaits(db);
      await end();
      await failed;
    }
  });

  await until(
    'it is delivered',
    async () => (await countDeliveries(db, target, 'delivered')) === 1,
  );
  await worker.stop();
  const levels = lines.map(([level, words]) => [level, words]);
  const begins = ['warn', 'cannot claim deliveries, retrying'];
  assert.deepEqual(levels, [begins, ['info', 'claiming deliveries again']]);
  assert.equal(lines[0]![2]['webhook_id'], target.webhook_id);
  assert.ok(lines[0]![2]['err']);
});

test('deliveries of an unreadable webhook are claimed again', async (t) => {
  const org_id = await makeOrganization(db);
  const webhook_id = await makeWebhook(db, org_id);
  const { lines, log } = keptLog();
  const worker = workerOf(db, subscriber(200).outbound, await makePool(db), log);
  const event = { type: 'response.received', body: '{}' } as const;
  const emitted = await emitOwned(db, worker, { orgId: org_id, events: [event] });
  await db.begin(async (tx) => {
    await tx`lock table webhooks in access exclusive mode`;
    const now = performance.now.bind(performance);
    let calls = 0;
    const jumping = t.mock.method(performance, 'now', () => now() + 1000 * calls++);
    emitted.start();
    jumping.mock.restore();
    await untilLockWaits(db);
    await cancelWaiting();
  });
  await until('it is delivered', async () => {
    return (await countDeliveries(db, { org_id, webhook_id }, 'delivered')) === 1;
  });
  await worker.stop();
  const err = 'canceling statement due to user request';
  assert.deepEqual(lines, [
    ['warn', 'cannot claim deliveries, retrying', { webhook_id, err }],
    ['info', 'claiming deliveries again', {}],
  ]);
});

test('a full queue continues once its outcomes are recorded', async () => {
  const target = await makeBacklog(db, 300);
  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, await makePool(db));
  await db.begin(async (tx) => {
    await tx`select from webhooks where id = ${target.webhook_id} for no key update`;
    await worker.wake(target);
    await until('it claims no more', () => posts.length >= 200);
  });

  await until('all are delivered', async () => {
    return (await countDeliveries(db, target, 'delivered')) === 300;
  });
  await worker.stop();
});

test('a response is recorded while a webhook is being deleted', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const id = await makeContact(db, { org_id, survey_id });
  const webhook = await makeWebhook(db, org_id);
  const link = linkOf({ orgId: org_id, surveyId: survey_id, contactId: id });

  let recording: Promise<unknown> = Promise.resolve();
  await db.begin(async (tx) => {
    await tx`delete from webhooks where id = ${webhook}`;
    recording = answerThrough(db, link);
    await untilLockWaits(db);
  });

  assert.ok(await recording);
});
