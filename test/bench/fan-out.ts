import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { one, type Sql } from '../../src/lib/db/db.ts';
import { applyLoad, post } from './load.ts';
import { costOf } from './processor-time.ts';
import { type Scene, withScene } from './scene.ts';
import { readWrites, writesBetween } from './writes.ts';

const events = 300;
const warmUpEvents = 50;
const warmUpWebhooks = 2;
const webhooks = 40;
const deliveries = events * webhooks;
const atOnce = 10;
const lookEveryMs = 50;
const patienceMs = 120_000;

/**
 * Measures answers of one organization with forty webhooks, from the first request to the last record, and the same
 * answers without webhooks. Both are given per delivery.
 */
export const fanOut = (server: string) =>
  withScene(server, {}, async (scene) => {
    const receiver = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)));
    const [port] = (await once(receiver, 'message')) as [number];
    try {
      const warmUp = { port, webhooks: warmUpWebhooks, contacts: warmUpEvents };
      const already = warmUpEvents * warmUpWebhooks;
      await answerAll(scene, await prepare(scene, warmUp), already);
      const untaken = await prepare(scene, { port, webhooks: 0, contacts: events });
      const answer = await measure(scene, untaken, already);
      const tokens = await prepare(scene, { port, webhooks, contacts: events });
      return { ...(await measure(scene, tokens, already + deliveries)), answer };
    } finally {
      receiver.kill();
    }
  });

async function measure(scene: Scene, tokens: readonly string[], delivered: number) {
  const before = await readWrites(scene.db);
  const { ms, us } = await costOf({ units: deliveries, parts: scene.parts }, () =>
    answerAll(scene, tokens, delivered),
  );
  const writes = writesBetween(before, await readWrites(scene.db), deliveries);
  return { perSecond: (deliveries * 1000) / ms, ...us, ...writes };
}

type Wanted = { port: number; webhooks: number; contacts: number };

async function prepare(scene: Scene, { port, webhooks, contacts }: Wanted) {
  const organization = await scene.makeOrganization();
  for (let n = 0; n < webhooks; n += 1) {
    await organization.makeWebhook(`http://127.0.0.1:${port}/${n}`, ['response.received']);
  }
  return await organization.addContacts(await organization.makeSurvey(), contacts);
}

async function answerAll({ db, service }: Scene, tokens: readonly string[], delivered: number) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const requests = tokens.map((token) => post(`/s/${token}`, '{"score":9}', headers));
  const load = { port: service.port, connections: atOnce, seconds: 60, once: true };
  const { refused } = await applyLoad({ ...load, requests });
  if (Object.keys(refused).length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
  const giveUpAt = performance.now() + patienceMs;
  while ((await countDelivered(db)) < delivered) {
    if (performance.now() > giveUpAt) throw new Error('deliveries are left over');
    await sleep(lookEveryMs);
  }
}

const countDelivered = async (sql: Sql) =>
  one(
    await sql<{ n: number }[]>`
      select count(*)::int as n from deliveries where status = 'delivered'`,
  ).n;
