import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptOutcome, ClaimedDelivery, WebhookRef } from '../../src/webhooks/deliver.ts';
import { deleteWebhook } from '../../src/webhooks/queries.ts';
import { record } from '../../src/webhooks/record.ts';
import { judge } from '../../src/webhooks/rules.ts';
import { claimDue, maxInFlight } from '../../src/webhooks/worker.ts';
import { answerOf, hangingSubscriber, subscriber } from '../support/fakes/subscriber.ts';
import { answerThrough, linkOf } from '../support/make/answers.ts';
import {
  countDeliveries,
  emitTo,
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
    { retries: delivery.retries, random: 0.5 },
  ),
  at: new Date(),
  traceparent: null,
});

const claimAll = async (target: WebhookRef) =>
  await claimDue(db, target, { by: await makePool(db), atMost: 100, running: [] });

const makeDue = (target: WebhookRef) => db`
  update pending_deliveries set next_attempt_at = now()
  where webhook_id = ${target.webhook_id}`;

const failuresOf = async (target: WebhookRef) =>
  (await db`select failure_count from webhooks where id = ${target.webhook_id}`)[0]?.[
    'failure_count'
  ];

/** Ends the sessions that wait for a lock: the statement is undone, and its sender gets no answer. */
const endWaitingSessions = () => db`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

const cancelWaiting = () => db`
  select pg_cancel_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

test('an attempt that is recorded a second time counts once', async () => {
  const target = await makeBacklog(db, 1);
  await db`
    update pending_deliveries set attempts = 1, next_attempt_at = now()
    where webhook_id = ${target.webhook_id}`;
  const failed = (await claimAll(target)).map((delivery) => outcomeOf(delivery, 500));

  await record(db, target, failed);
  await record(db, target, failed);

  assert.equal(await failuresOf(target), 1);
});

test('a first attempt that is recorded late does not undo the second', async () => {
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

test('a process finds its own claim again when the answer to it was lost', async () => {
  const target = await makeBacklog(db, 3);
  const by = await makePool(db);
  await claimDue(db, target, { by, atMost: 3, running: [] });

  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, by);
  await worker.wake(target);
  await worker.stop();

  assert.equal(posts.length, 3);
  assert.equal(await countDeliveries(db, target, 'delivered'), 3);
});

test('a claim that failed is made again, and logged once at each end', async () => {
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
  const begins = ['warn', 'no deliveries claimed, trying on'];
  assert.deepEqual(levels, [begins, ['info', 'deliveries are claimed again']]);
  assert.equal(lines[0]![2]['webhook_id'], target.webhook_id);
  assert.ok(lines[0]![2]['err']);
});

test('outcomes that Postgres cannot take are bounded, and recorded later', async () => {
  const target = await makeBacklog(db, 100);
  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, await makePool(db));
  await db.begin(async (tx) => {
    await tx`select from webhooks where id = ${target.webhook_id} for no key update`;
    await worker.wake(target);
    await untilLockWaits(db);
    assert.equal(posts.length, maxInFlight);
  });
  await until('all are delivered', async () => {
    return (await countDeliveries(db, target, 'delivered')) === 100;
  });
  await worker.stop();
});

test('a webhook that is locked and then deleted holds up no other', async () => {
  const org_id = await makeOrganization(db);
  const [gone, stays] = [await makeWebhook(db, org_id), await makeWebhook(db, org_id)];
  await emitTo(db, org_id, 1);
  const { outbound, release, hanging } = hangingSubscriber();
  const worker = workerOf(db, outbound, await makePool(db));
  await worker.sweep();
  await until('both are in flight', () => hanging() === 2);
  await db.begin(async (tx) => {
    await tx`select from webhooks where id = ${gone} for update`; // a deletion begins with it
    release();
    const other = { org_id, webhook_id: stays };
    await until('the other is recorded', async () => {
      return (await countDeliveries(db, other, 'delivered')) === 1;
    });
    await deleteWebhook(tx, org_id, gone);
  });
  await worker.stop();
  assert.equal((await db`select from deliveries where webhook_id = ${gone}`).length, 0);
});

test('an answer is recorded although a webhook is deleted at that moment', async () => {
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
