import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeSurvey } from '../support/make/rows.ts';
import type { startSubscribers } from './arrivals.ts';
import { patiently } from './damage.ts';

export const webhooks = ['one', 'two', 'three'];
const drainMs = 180_000;

export const environment = (url: string) => ({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_WEBHOOK_HTTP: 'allow',
  LOG_LEVEL: 'error',
});

type Stage = {
  db: Db;
  address: string;
  subscribers: Awaited<ReturnType<typeof startSubscribers>>;
};

/** A survey with a personal link per answer, an additional open contact, and three webhooks. */
export async function setScene({ db, address, subscribers }: Stage, answers: number) {
  const client = await makeClient(db);
  const survey = await makeSurvey(db, client.id);
  await makeContact(db, { org_id: client.id, survey_id: survey });
  const made = await db<{ token: string }[]>`
    insert into contacts (org_id, survey_id, email, token, properties)
    select ${client.id}, ${survey}, 'p' || n || '@people.test',
           replace(gen_random_uuid()::text, '-', ''), '{}'
    from generate_series(1, ${answers}) as n
    returning token`;
  for (const webhook of webhooks) {
    const url = subscribers.urlOf(webhook);
    const created = await fetch(`${address}/api/webhooks`, {
      method: 'POST',
      headers: client.write,
      body: JSON.stringify({ url, events: ['response.received'] }),
    });
    subscribers.expect(webhook, ((await created.json()) as { secret: string }).secret);
  }
  return { client, orgId: client.id, tokens: made.map(({ token }) => token) };
}

/** Waits until everything is delivered, up to a time limit. Returns the number of other deliveries. */
export async function drained(db: Db, orgId: string): Promise<number> {
  const until = performance.now() + drainMs;
  for (;;) {
    const [left] = await patiently(
      () => db<{ count: number }[]>`
        select count(*)::int as count from deliveries
        where org_id = ${orgId} and status <> 'delivered'`,
    );
    if (left!.count === 0 || performance.now() > until) return left!.count;
    await sleep(100);
  }
}

export async function answersOf(db: Db, orgId: string): Promise<Set<string>> {
  const rows = await db<{ id: string }[]>`select id from responses where org_id = ${orgId}`;
  return new Set(rows.map(({ id }) => id));
}
