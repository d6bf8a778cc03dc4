import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { JobName } from '../src/jobs.ts';
import { connect } from '../src/lib/db/db.ts';
import { createPoolSlots, serviceWork, shareFairly } from '../src/lib/db/fair-pool.ts';
import { tasks } from '../src/tasks.ts';
import { makeClient, makeSurvey, makeWebhook } from './support/make/rows.ts';
import { taskTools } from './support/make/task-tools.ts';
import { testDatabase } from './support/probe/database.ts';
import { until } from './support/probe/until.ts';

const { db, url } = await testDatabase();
const connections = 8;

async function makeCampaign(org_id: string): Promise<string> {
  const survey_id = await makeSurvey(db, org_id);
  const campaign = { org_id, survey_id, name: 'May', status: 'running' };
  const [made] = await db`insert into campaigns ${db(campaign)} returning id`;
  return made!['id'];
}

test('slow jobs of an organization do not delay others or the service', async (t) => {
  const small = connect(url, { connections });
  t.after(() => small.end({ timeout: 0 }));
  const slots = createPoolSlots(connections);
  const service = shareFairly(small, slots, serviceWork);
  const jobs = tasks(taskTools(service));
  const run = (name: JobName, payload: object) => jobs[name]!(payload, jobRun);

  const [many, other] = [(await makeClient(db)).id, (await makeClient(db)).id];
  const slow = await makeCampaign(many);
  const locker = await db.reserve();
  await locker`begin`;
  await locker`select from campaigns where id = ${slow} for update`;
  const crowd = Array.from({ length: 30 }, () =>
    run('campaigns.advance', { org_id: many, campaign_id: slow, turn: 1 }),
  );
  const hanging = async () =>
    (
      await db`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%campaigns%'`
    ).length;
  await until('its jobs hold their share', async () => (await hanging()) >= connections / 2);

  let ended = 0;
  const webhook_id = await makeWebhook(db, other);
  const campaign_id = await makeCampaign(other);
  const others = [
    run('campaigns.advance', { org_id: other, campaign_id, turn: 1 }),
    run('sends.mail', { org_id: other, mail_ids: [randomUUID()] }),
    run('webhooks.deliver', { org_id: other, webhook_id }),
    run('keys.clean_up', {}),
  ];
  for (const each of others) void each.then(() => (ended += 1));
  await until('the jobs of the other have ended', () => ended === others.length);
  assert.equal(await hanging(), connections / 2);
  await locker`rollback`;
  locker.release();
  await Promise.all(crowd);
});

const jobRun = {
  task: 'test',
  id: '1',
  attempt: 1,
  maxAttempts: 5,
  traceparent: null,
  due: new Date(),
  causedAt: new Date(),
};
