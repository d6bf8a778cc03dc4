import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeSurvey } from '../support/make/rows.ts';
import { environment } from './campaign.ts';
import { type Neighbours, timed } from './neighbours.ts';
import { createService } from './service.ts';

const hangingWebhooks = 8;
const eventsForEach = 40;
const replayed = 20_000;
const answers = 40;
const arriveWithinMs = 30_000;
const crowdMs = 1000;

/**
 * Eight webhooks of one organization hang, with more due than may be in flight. The other has one webhook on
 * the same host, and its contacts answer one after the other.
 */
export const deliveryNeighbours: Neighbours = {
  shared: "connections to a subscriber's host",
  measure: (databaseUrl) =>
    measure(databaseUrl, async ({ many, urlOf, answer }) => {
      for (let n = 0; n < hangingWebhooks; n += 1) await many.addWebhook(urlOf('/hang'));
      for (let n = 0; n < eventsForEach; n += 1) await answer(many);
    }),
};

/** One organization has 20,000 skipped deliveries replayed at once, as often as it may; the other as above. */
export const replayNeighbours: Neighbours = {
  shared: 'deliveries of replays',
  measure: (databaseUrl) =>
    measure(databaseUrl, async ({ db, many, urlOf, address }) => {
      const id = await many.addWebhook(urlOf('/'));
      await db`
        insert into deliveries (org_id, id, message_id, webhook_id, event, body, status)
        select ${many.id}, id, id, ${id}, 'response.received', '{"version":"1"}', 'skipped'
        from (select gen_random_uuid() as id from generate_series(1, ${replayed})) made`;
      const replay = () =>
        fetch(`${address}/api/webhooks/${id}/replay`, {
          method: 'POST',
          headers: many.write,
          body: JSON.stringify({ since: '2020-01-01' }),
        });
      void Promise.all(Array.from({ length: 20 }, replay)).catch(() => {});
    }),
};

type Crowd = Awaited<ReturnType<typeof setScene>>;

async function measure(databaseUrl: string, crowd: (scene: Crowd) => Promise<unknown>) {
  const host = await startHost();
  const service = await createService(environment(databaseUrl));
  const db = connect(databaseUrl, { connections: 2 });
  try {
    await service.start();
    const scene = await setScene({ db, address: service.address, host });
    const wrong: string[] = [];
    const one = async () => {
      const arrived = await scene.answerUntilArrived();
      if (!arrived) wrong.push(`an event did not arrive within ${arriveWithinMs / 1000} s`);
    };
    await one(); // the first connection and plans are no part of the comparison
    const idleMs: number[] = [];
    for (let n = 0; n < answers; n += 1) idleMs.push(await timed(one));
    await crowd(scene);
    await sleep(crowdMs);
    const crowdedMs: number[] = [];
    for (let n = 0; n < answers; n += 1) crowdedMs.push(await timed(one));
    return { idleMs, crowdedMs, wrong };
  } finally {
    await service.kill();
    await db.end({ timeout: 1 });
    host.close();
  }
}

type Place = { db: Db; address: string; host: Awaited<ReturnType<typeof startHost>> };

async function setScene({ db, address, host }: Place) {
  const party = async () => {
    const client = await makeClient(db);
    const survey_id = await makeSurvey(db, client.id);
    const contact = { org_id: client.id, survey_id };
    await makeContact(db, contact); // stays open, so that the survey does
    const addWebhook = async (url: string) => {
      const body = JSON.stringify({ url, events: ['response.received'] });
      const request = { method: 'POST', headers: client.write, body };
      const answer = await fetch(`${address}/api/webhooks`, request);
      return ((await answer.json()) as { id: string }).id;
    };
    return { ...client, contact, addWebhook };
  };
  const [many, other] = [await party(), await party()];
  await other.addWebhook(host.urlOf('/other'));

  async function answer({ contact }: typeof many): Promise<string> {
    const token = `t${crypto.randomUUID().replaceAll('-', '')}`;
    await makeContact(db, contact, { token });
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const request = { method: 'POST', headers, body: '{"score":9}' };
    await (await fetch(`${address}/s/${token}`, request)).arrayBuffer();
    const [row] = await db<{ id: string }[]>`
      select r.id from responses r join contacts c on c.id = r.contact_id where c.token = ${token}`;
    return row!.id;
  }

  const answerUntilArrived = async () => host.arrived(await answer(other));
  return { db, address, many, urlOf: host.urlOf, answer, answerUntilArrived };
}

/** `/hang` never answers, `/other` keeps the ids of the responses it got, everything else is accepted. */
async function startHost() {
  const seen = new Set<string>();
  const hanging = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      if (request.url === '/hang') return void hanging.add(response);
      if (request.url === '/other') seen.add(JSON.parse(body).responseId);
      response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function arrived(responseId: string): Promise<boolean> {
    const until = performance.now() + arriveWithinMs;
    while (!seen.has(responseId) && performance.now() < until) await sleep(2);
    return seen.has(responseId);
  }

  function close() {
    server.close();
    server.closeAllConnections();
  }

  return { urlOf: (path: string) => `http://127.0.0.1:${port}${path}`, arrived, close };
}
