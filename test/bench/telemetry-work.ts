import { setTimeout as sleep } from 'node:timers/promises';
import { issueKey } from '../../src/keys/issue.ts';
import { one, type Sql } from '../../src/lib/db/db.ts';
import type { BenchDatabase } from './database.ts';
import { applyLoad, post } from './load.ts';
import type { Service } from './service.ts';
import { addContacts, addSurveys, addWebhook } from './surveys.ts';

const connections = 32;
const answers = 3000;
const surveysAnswered = 125;
const mailsPerRequest = 500;
const requests = 3;
const webhooks = 20;
const deliveriesEach = 100;
const pollMs = 20;

export type Place = { database: BenchDatabase; service: Service; receiverPort: number };
/** How many were done, in how many milliseconds. */
type Done = { count: number; ms: number };

/** Some work of each kind, as much each time. Everything it needs is made before it begins. */
export const works: Readonly<Record<string, (place: Place) => Promise<() => Promise<Done>>>> = {
  async answers({ database: { db }, service }) {
    const surveys = await addSurveys(db, { surveys: surveysAnswered, webhooks: false });
    const tokens = await addContacts(db, surveys, answers / surveysAnswered);
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ score: 9, comment: 'quick and helpful' });
    const load = { port: service.port, connections, seconds: 60, once: true };
    return async () => {
      const asked = tokens.map((token) => post(`/s/${token}`, body, headers));
      const { count, perSecond, refused } = await applyLoad({ ...load, requests: asked });
      if (Object.keys(refused).length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
      return { count, ms: (count * 1000) / perSecond };
    };
  },

  async sends({ database: { db }, service }) {
    const surveys = await addSurveys(db, { surveys: requests, webhooks: false });
    const asks = await Promise.all(
      surveys.map(async ({ orgId, id }) => {
        const { key } = await issueKey(db, orgId, { name: 'bench', permission: 'write' });
        return () => sendAll(`http://127.0.0.1:${service.port}/api/v1/surveys/${id}/send`, key);
      }),
    );
    return () => timed(requests * mailsPerRequest, () => Promise.all(asks.map((ask) => ask())));
  },

  async deliveries({ database: { db }, receiverPort }) {
    await db`delete from webhooks`;
    const surveys = await addSurveys(db, { surveys: webhooks, webhooks: false });
    const target = `http://127.0.0.1:${receiverPort}/`;
    for (const { orgId } of surveys) await addWebhook(db, orgId, target);
    return async () => {
      await addDeliveries(db);
      while (await anyLeft(db)) await sleep(pollMs);
      return { count: webhooks * deliveriesEach, ms: await betweenAttempts(db) };
    };
  },
};

async function timed(count: number, work: () => Promise<unknown>): Promise<Done> {
  const begun = performance.now();
  await work();
  return { count, ms: performance.now() - begun };
}

async function sendAll(url: string, key: string) {
  const contacts = Array.from({ length: mailsPerRequest }, (_, n) => ({
    email: `person${n}@people.example`,
    name: `Person ${n}`,
  }));
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ contacts }) });
  const { data } = (await answer.json()) as { data?: { sent: number } };
  if (data?.sent !== mailsPerRequest) throw new Error(`a send sent ${data?.sent} mails`);
}

/** Of events that one webhook takes each, so that each has its body. */
async function addDeliveries(sql: Sql) {
  await sql`
    with happened as (
      insert into events (org_id, type, body)
      select w.org_id, 'response.received', json_build_object('version', '1', 'filler', repeat('x', 200))::text
      from webhooks w, generate_series(1, ${deliveriesEach}::int) n
      returning org_id, id
    )
    insert into pending_deliveries (org_id, webhook_id, event_id)
    select w.org_id, w.id, e.id
    from happened e
    join webhooks w using (org_id)`;
}

async function anyLeft(sql: Sql): Promise<boolean> {
  return one(
    await sql<{ left: boolean }[]>`
      select exists (select from deliveries where status <> 'delivered') as left`,
  ).left;
}

/** From the first attempt to the last record: not the second until somebody looks. */
async function betweenAttempts(sql: Sql): Promise<number> {
  return one(
    await sql<{ ms: number }[]>`
      select (extract(epoch from max(d.delivered_at) - min(d.delivered_at - make_interval(secs => d.duration_ms / 1000.0))) * 1000)::float8 as ms
      from deliveries d`,
  ).ms;
}
