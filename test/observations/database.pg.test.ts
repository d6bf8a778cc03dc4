import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enqueue } from '../../src/jobs.ts';
import { readDatabase } from '../../src/observations/database.ts';
import { proxyTo } from '../support/fakes/database-proxy.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeResponse, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { scrape } from '../support/probe/scrape.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = {
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  ASKBACK_DB_POOL: '20',
};
/** The limit is 2 s. A busy machine may take longer, but a hanging request far longer still. */
const soonMs = 20_000;

async function inTime(address: string) {
  const began = performance.now();
  const scraped = await scrape(address);
  const ms = performance.now() - began;
  assert.equal(scraped.status, 200);
  assert.ok(ms < soonMs, `${ms} ms`);
  return scraped;
}

test('counts waiting work and reports the age of the oldest', async (t) => {
  const org_id = await makeOrganization(db);
  const webhook_id = await makeWebhook(db, org_id);
  t.after(() => db`delete from organizations where id = ${org_id}`);
  await makeWebhook(db, org_id, { active: false });
  const pending = { org_id, webhook_id };
  const hourAgo = new Date(Date.now() - 3_600_000);
  const yesterday = new Date(Date.now() - 86_400_000);
  const tomorrow = new Date(Date.now() + 86_400_000);
  for (const each of [
    { ...pending, next_attempt_at: tomorrow, created_at: hourAgo },
    { ...pending, next_attempt_at: tomorrow },
    // A retry that is not due adds no waiting time, however old its event is.
    {
      ...pending,
      next_attempt_at: tomorrow,
      attempts: 7,
      created_at: yesterday,
    },
    { ...pending, status: 'delivered' },
  ]) {
    await addDeliveries(db, each);
  }
  await enqueue(db, [
    { task: 'sends.mail', payload: { org_id, mail_ids: [org_id, org_id, org_id] } },
    { task: 'keys.clean_up', payload: {} },
  ]);
  await db`select graphile_worker.add_job('sends.mail', ${db.json({ org_id, mail_ids: [org_id] })}::json)`;
  await db`update graphile_worker._private_jobs set created_at = ${hourAgo}`;
  await db`select graphile_worker.add_job('sends.mail', ${db.json({ org_id, mail_ids: [org_id] })}::json)`;
  await db`select graphile_worker.add_job('sends.mail', ${db.json({
    org_id,
    mail_ids: [org_id],
    stuck_since: new Date(hourAgo.getTime() - 3_600_000).toISOString(),
  })}::json)`;
  await db`select graphile_worker.add_job('webhooks.clean_up', '{}'::json, run_at => now() - interval '1 minute')`;
  await db`select graphile_worker.add_job('webhooks.clean_up', '{}'::json, run_at => now() + interval '1 day')`;
  const contact = { org_id, survey_id: await makeSurvey(db, org_id) };
  const responses = [await makeResponse(db, contact), await makeResponse(db, contact)];
  for (const [place, response_id] of responses.entries()) {
    await db`
      insert into waiting_analyses (org_id, response_id, due_at)
      values (${org_id}, ${response_id}, now() - interval '2 minutes' + ${place}::int * interval '1 minute')`;
  }
  const analyzed = await makeResponse(db, contact);
  await db`
    insert into waiting_analyses (org_id, response_id, due_at, claimed_by)
    values (${org_id}, ${analyzed}, now() - interval '1 hour', 'a pool')`;
  t.after(async () => {
    await db`delete from graphile_worker._private_jobs`;
  });

  const readings = await readDatabase(db);
  const read = (name: string, label = '') =>
    readings[name]!.find(({ labels }) => Object.values(labels).join() === label)!.value;

  assert.equal(read('askback_pending_deliveries', 'webhook'), 3);
  assert.equal(Math.round(read('askback_pending_oldest_seconds', 'webhook') / 60), 60);
  assert.equal(read('askback_pending_deliveries', 'mail'), 6);
  assert.equal(Math.round(read('askback_pending_oldest_seconds', 'mail') / 60), 120);
  assert.equal(read('askback_queue_jobs', 'webhooks.clean_up'), 2);
  assert.equal(Math.floor(read('askback_queue_oldest_seconds', 'webhooks.clean_up') / 60), 1);
  assert.equal(read('askback_queue_jobs', 'summaries.analyze'), 2);
  assert.equal(Math.floor(read('askback_queue_oldest_seconds', 'summaries.analyze') / 60), 2);
  assert.equal(read('askback_queue_jobs', 'keys.clean_up'), 1);
  assert.equal(read('askback_webhooks', 'active'), 1);
  assert.equal(read('askback_webhooks', 'inactive'), 1);
});

test('metrics answer in time while the database is down', async () => {
  const proxy = await proxyTo(url);
  const service = startService({ ...environment, DATABASE_URL: proxy.url });
  const address = addressIn(await service.ready());
  assert.equal((await inTime(address)).value('askback_ready'), 1);

  await proxy.cut();
  await until('it is known', async () => (await inTime(address)).value('askback_ready') === 0);
  await until('the known values are too old', async () => {
    const { text } = await inTime(address);
    return !text.includes('askback_queue_jobs');
  });
  const away = await inTime(address);
  assert.equal(away.value('askback_db_pool_limit'), 20);
  assert.equal(away.value('askback_webhook_deactivations_total'), 0);
  assert.ok(away.value('process_cpu_seconds_total')! > 0);

  await proxy.mend();
  await until('it is back', async () => {
    const { value } = await inTime(address);
    return value('askback_ready') === 1;
  });
  assert.equal(await service.stop(), 0);
});

test('a separate address serves metrics alone, until shutdown', async () => {
  const service = startService({ ...environment, ASKBACK_METRICS_LISTEN: '127.0.0.1:0' });
  const address = addressIn(await service.ready());
  const own = /http:\/\/127\.0\.0\.1:\d+/.exec(
    await service.stderr.next(/^metrics are available on/),
  )![0];
  assert.equal((await scrape(own)).value('askback_ready'), 1);
  assert.equal((await fetch(`${address}/metrics`)).status, 404);
  assert.equal((await fetch(`${own}/api/v1/surveys`)).status, 404);
  assert.equal((await fetch(`${own}/healthz`)).status, 404);
  assert.equal(await service.stop(), 0);
  await assert.rejects(fetch(`${own}/metrics`));
});
