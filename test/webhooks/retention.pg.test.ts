import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enqueue } from '../../src/jobs.ts';
import { crontab, tasks } from '../../src/tasks.ts';
import { redeliver } from '../../src/webhooks/replay.ts';
import { cleanUpDeliveries } from '../../src/webhooks/retention.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook, writeKeyOf } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';
import { workOn } from '../support/probe/jobs.ts';
import { until } from '../support/probe/until.ts';

const { db, url } = await testDatabase();
const dayMs = 24 * 3600 * 1000;

/** Deliveries by age in days; the first one is created last. */
async function history(ages: readonly number[], status = 'delivered') {
  const org_id = await makeOrganization(db);
  const webhook_id = await makeWebhook(db, org_id);
  const rows = ages.map((age) => ({
    org_id,
    webhook_id,
    status,
    created_at: new Date(Date.now() - age * dayMs),
  }));
  const ids = await addDeliveries(db, ...rows);
  const left = async () => {
    const found = await db<{ id: string }[]>`
      select id from deliveries where webhook_id = ${webhook_id} order by created_at desc`;
    return found.map(({ id }) => id);
  };
  return { org_id, webhook_id, ids, left };
}

const times = (count: number, age: number) =>
  Array.from({ length: count }, (_, n) => age + n / 1000);

test('the nightly job deletes old deliveries in batches', async (t) => {
  const { org_id, webhook_id, ids } = await history(times(7000, 100));
  for (const delivery_id of [ids[49]!, ids[50]!, ids[6000]!]) {
    await db`insert into delivery_attempts ${db({ org_id, webhook_id, delivery_id, number: 1, duration_ms: 1 })}`;
  }
  const pending = await history([100], 'pending');
  const of = { org_id: pending.org_id, webhook_id: pending.webhook_id };
  await db`insert into delivery_attempts ${db({ ...of, delivery_id: pending.ids[0]!, number: 1, duration_ms: 1 })}`;
  assert.ok(crontab.some(({ task }) => task === 'webhooks.clean_up'));
  await workOn(t, { url, tasks: tasks(taskTools(db)) });
  await enqueue(db, [{ task: 'webhooks.clean_up', payload: {} }]);
  await until(
    'events of deleted deliveries are gone',
    async () => (await eventsOf(org_id)).length === 50,
  );
  const rows = await db<{ id: string }[]>`
    select id from ended_deliveries where webhook_id = ${webhook_id} order by id desc`;
  assert.deepEqual(
    rows.map(({ id }) => id),
    ids.slice(0, 50),
  );
  const attempts = await db<{ id: string }[]>`select delivery_id as id from delivery_attempts`;
  assert.deepEqual(attempts.map(({ id }) => id).sort(), [ids[49]!, pending.ids[0]!].sort());
});

test('an old event is kept while a newer delivery uses it', async () => {
  const { org_id, webhook_id, ids } = await history([...times(50, 1), 400], 'failed');
  const [redelivered] = ids.slice(50);
  const which = { webhookId: webhook_id, deliveryId: redelivered! };
  await redeliver({ db }, writeKeyOf(org_id), which);
  await cleanUpDeliveries(taskTools(db));
  assert.ok((await eventsOf(org_id)).includes(redelivered!));
  const [again] = await db`
    select body from deliveries where webhook_id = ${webhook_id} and status = 'pending'`;
  assert.equal(again!['body'], '{"version":"1"}');
});

const eventsOf = async (org_id: string) =>
  (await db<{ id: string }[]>`select id from events where org_id = ${org_id} order by id`).map(
    ({ id }) => id,
  );
