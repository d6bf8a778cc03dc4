import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeClient, makeContact, makeSurvey } from '../support/make/rows.ts';
import { until } from '../support/probe/until.ts';
import { giveAnswers } from './answers.ts';
import { startSubscribers } from './arrivals.ts';
import { environment } from './scene.ts';
import { createService } from './service.ts';

const backlog = 50_000;
const perSecond = 50;
const seconds = 40;
/** Twice the time of an attempt: those in flight when it is switched off end first. */
const skippedWithinMs = 20_000;

/**
 * A subscriber that takes connections and never answers, with a long backlog, next to one that answers.
 * Long enough that the dead one is switched off on the way, and all its backlog skipped.
 */
export async function runFairness(url: string) {
  const subscribers = await startSubscribers();
  const hanging = createServer(() => {}).listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  const service = await createService(environment(url));
  const db = connect(url, { connections: 1 });
  try {
    await service.start();
    const { port } = hanging.address() as AddressInfo;
    const dead = { url: `http://127.0.0.1:${port}/`, events: ['survey.completed'] };
    const live = { url: subscribers.urlOf('live'), events: ['response.received'] };
    const client = await makeClient(db);
    const make = (body: object) => createWebhook(service.address, client.write, body);
    const [{ id: deadId }, { secret }] = [await make(dead), await make(live)];
    subscribers.expect('live', secret);
    await fillBacklog(db, client.id, deadId);
    const tokens = await links(db, client.id);
    await giveAnswers({ tokens, addresses: [service.address], perSecond });
    await until('all arrived', () => subscribers.arrivals.length >= tokens.length);
    return {
      ...(await latencies(db, client.id, subscribers.arrivals)),
      dead: await skipped(db, deadId),
    };
  } finally {
    await service.kill();
    subscribers.stop();
    hanging.close();
    hanging.closeAllConnections();
    await db.end({ timeout: 1 });
  }
}

async function createWebhook(address: string, headers: Record<string, string>, body: object) {
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${address}/api/webhooks`, init);
  return (await answer.json()) as { id: string; secret: string };
}

function fillBacklog(db: Db, orgId: string, webhookId: string) {
  const due = { org_id: orgId, webhook_id: webhookId, event: 'survey.completed' };
  return addDeliveries(db, ...Array.from({ length: backlog }, () => due));
}

async function links(db: Db, orgId: string) {
  const survey = await makeSurvey(db, orgId);
  await makeContact(db, { org_id: orgId, survey_id: survey });
  const made = await db<{ token: string }[]>`
    insert into contacts (org_id, survey_id, email, token, properties)
    select ${orgId}, ${survey}, 'p' || n || '@people.test',
           replace(gen_random_uuid()::text, '-', ''), '{}'
    from generate_series(1, ${perSecond * seconds}) as n
    returning token`;
  return made.map(({ token }) => token);
}

type Seen = { deliveryId: string; at: number }[];

/** From the start of the transaction that made the event, which is a little before its commit. */
async function latencies(db: Db, orgId: string, arrivals: Seen) {
  const made = await db<{ id: string; created_at: Date }[]>`
    select id, created_at from deliveries
    where org_id = ${orgId} and event = 'response.received'`;
  const at = new Map(arrivals.map((arrival) => [arrival.deliveryId, arrival.at]));
  const took = made.map(({ id, created_at }) => (at.get(id) ?? Infinity) - created_at.getTime());
  took.sort((one, other) => one - other);
  const part = (share: number) => took[Math.ceil(took.length * share) - 1];
  return { events: took.length, p50_ms: part(0.5), p99_ms: part(0.99), most_ms: part(1) };
}

/** The state of the dead one when nothing waits for it any more, or when the time for it is over. */
async function skipped(db: Db, webhookId: string) {
  const from = performance.now();
  for (;;) {
    const shown = await state(db, webhookId);
    const seconds = (performance.now() - from) / 1000;
    const done = !('pending' in shown.deliveries);
    if (done || seconds * 1000 > skippedWithinMs) return { ...shown, all_skipped_after_s: seconds };
    await sleep(100);
  }
}

async function state(db: Db, webhookId: string) {
  const [webhook] =
    await db`select active, deactivated_reason from webhooks where id = ${webhookId}`;
  const counts = await db`
    select status, count(*)::int from deliveries where webhook_id = ${webhookId} group by status`;
  const deliveries = Object.fromEntries(counts.map((row) => [row['status'], row['count']]));
  return { ...webhook, deliveries };
}
