import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordAnswer } from '../../src/responses/record.ts';
import { type Outcome, record } from '../../src/webhooks/deliver.ts';
import { type ClaimedDelivery, claimDue, type Lane } from '../../src/webhooks/delivery.queries.ts';
import { answerOf, subscriber } from '../support/fakes/subscriber.ts';
import { countDeliveries, lanesOf, makeBacklog, makePool } from '../support/make/deliveries.ts';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { someoneWaits } from '../support/probe/locks.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();

const outcomeOf = (delivery: ClaimedDelivery, status: number): Outcome => ({
  delivery,
  answer: answerOf(status),
  at: new Date(),
  traceparent: null,
});

const claimAll = async (lane: Lane) =>
  await claimDue(db, lane, { by: await makePool(db), atMost: 100, inHand: [] });

const makeDue = (lane: Lane) => db`
  update deliveries set next_attempt_at = now()
  where webhook_id = ${lane.webhook_id} and status = 'pending'`;

const failuresOf = async (lane: Lane) =>
  (await db`select failure_count from webhooks where id = ${lane.webhook_id}`)[0]?.[
    'failure_count'
  ];

/** Ends whoever waits for a lock: the statement is undone, and its sender learns nothing. */
const cutWhoWaits = () => db`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

test('an attempt that is recorded a second time counts once', async () => {
  const lane = await makeBacklog(db, 1);
  await db`update deliveries set attempts = 1 where webhook_id = ${lane.webhook_id}`;
  const failed = (await claimAll(lane)).map((delivery) => outcomeOf(delivery, 500));

  await record(db, lane, failed);
  await record(db, lane, failed);

  assert.equal(await failuresOf(lane), 1);
});

test('a first attempt that is recorded late does not undo the second', async () => {
  const lane = await makeBacklog(db, 1);
  const late = (await claimAll(lane)).map((delivery) => outcomeOf(delivery, 500));
  await record(db, lane, late);
  await makeDue(lane);
  const second = await claimAll(lane);

  await record(db, lane, late);
  const [delivery] = await db`
    select attempts, claimed_by is not null as in_hand from deliveries
    where webhook_id = ${lane.webhook_id}`;
  assert.deepEqual({ ...delivery }, { attempts: 1, in_hand: true });

  await record(
    db,
    lane,
    second.map((each) => outcomeOf(each, 200)),
  );
  assert.equal(await countDeliveries(db, lane, 'delivered'), 1);
});

test('a claim whose answer was lost is found again by the same process', async () => {
  const lane = await makeBacklog(db, 3);
  const by = await makePool(db);
  await claimDue(db, lane, { by, atMost: 3, inHand: [] });

  const { posts, outbound } = subscriber(200);
  const lanes = lanesOf(db, outbound, by);
  await lanes.wake(lane);
  await lanes.stop();

  assert.equal(posts.length, 3);
  assert.equal(await countDeliveries(db, lane, 'delivered'), 3);
});

test('a lane whose claim failed tries again by itself', async () => {
  const lane = await makeBacklog(db, 1);
  const lanes = lanesOf(db, subscriber(200).outbound, await makePool(db));
  await db.begin(async (tx) => {
    await tx`lock table worker_pools in access exclusive mode`;
    const failed = assert.rejects(lanes.wake(lane));
    await someoneWaits(db);
    await cutWhoWaits();
    await failed;
  });

  await until('it is delivered', async () => (await countDeliveries(db, lane, 'delivered')) === 1);
  await lanes.stop();
});

test('a lane that waited for outcomes to be written goes on afterwards', async () => {
  const lane = await makeBacklog(db, 300);
  const { posts, outbound } = subscriber(200);
  const lanes = lanesOf(db, outbound, await makePool(db));
  await db.begin(async (tx) => {
    await tx`select from webhooks where id = ${lane.webhook_id} for no key update`;
    await lanes.wake(lane);
    await until('it claims no more', () => posts.length >= 200);
  });

  await until('all are delivered', async () => {
    return (await countDeliveries(db, lane, 'delivered')) === 300;
  });
  await lanes.stop();
});

test('an answer is recorded although a webhook is deleted at that moment', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const id = await makeContact(db, { org_id, survey_id });
  const webhook = await makeWebhook(db, org_id);
  const given = {
    ...{ orgId: org_id, surveyId: survey_id, surveyType: 'nps' as const, score: 9, at: new Date() },
    ...{ comment: null, excerpt: null, heldReason: null, traceparent: null },
    contact: { id, openContacts: 1 },
  };

  let recording: Promise<unknown> = Promise.resolve();
  await db.begin(async (tx) => {
    await tx`delete from webhooks where id = ${webhook}`;
    recording = recordAnswer({ db, pump: () => {} }, given);
    await someoneWaits(db);
  });

  assert.ok(await recording);
});
