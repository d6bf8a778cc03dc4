import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { now } from './clock.ts';
import { percentiles } from './load.ts';
import { costOf } from './processor-time.ts';
import { type Scene, withScene } from './scene.ts';
import { readWrites, writesBetween } from './writes.ts';

const perSecond = 100;
const warmUpSeconds = 3;
const seconds = 20;
const lastArrivalMs = 2000;

/** Times of the request and of its acceptance for each answer, by response id. */
type Asked = Map<string, { askedAt: number; acceptedAt: number }>;

/** Measures the time from an answer to the first byte at the subscriber, at a steady rate. */
export const firstByte = (server: string) =>
  withScene(server, {}, async (scene) => {
    const receiver = fork(fileURLToPath(new URL('./first-byte-receiver.ts', import.meta.url)));
    const [port] = (await once(receiver, 'message')) as [number];
    try {
      const organization = await scene.makeOrganization();
      await organization.makeWebhook(`http://127.0.0.1:${port}/`, ['response.received']);
      const surveyId = await organization.makeSurvey();
      const tokens = await organization.addContacts(
        surveyId,
        perSecond * (warmUpSeconds + seconds) + 1,
      );
      await askSteadily(scene, tokens.splice(0, perSecond * warmUpSeconds));
      const events = perSecond * seconds;
      const before = await readWrites(scene.db);
      const { result: asked, us } = await costOf({ units: events, parts: scene.parts }, () =>
        askSteadily(scene, tokens.splice(0, events)),
      );
      const { commits } = writesBetween(before, await readWrites(scene.db), events);
      await sleep(lastArrivalMs);
      receiver.send('arrivals');
      const [arrivals] = (await once(receiver, 'message')) as [Record<string, number>];
      return { ...times(asked, arrivals), ...us, commits };
    } finally {
      receiver.kill();
    }
  });

/** Sends each request at its planned time, even if earlier ones are late. */
async function askSteadily({ service }: Scene, tokens: readonly string[]): Promise<Asked> {
  const agent = new Agent();
  const asked: Asked = new Map();
  const begunAt = now();
  const all: Promise<void>[] = [];
  for (const [n, token] of tokens.entries()) {
    const wait = begunAt + (n * 1000) / perSecond - now();
    if (wait > 0) await sleep(wait);
    const askedAt = now();
    const answered = ask(agent, `http://127.0.0.1:${service.port}/s/${token}`);
    all.push(answered.then((id) => void asked.set(id, { askedAt, acceptedAt: now() })));
  }
  await Promise.all(all);
  await agent.destroy();
  return asked;
}

async function ask(dispatcher: Agent, url: string): Promise<string> {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const answer = await request(url, { method: 'POST', headers, body: '{"score":9}', dispatcher });
  const text = await answer.body.text();
  if (answer.statusCode !== 201) throw new Error(`${answer.statusCode}: ${text}`);
  return (JSON.parse(text) as { data: { id: string } }).data.id;
}

function times(asked: Asked, arrivals: Record<string, number>) {
  const missing = [...asked.keys()].filter((id) => arrivals[id] === undefined);
  if (missing.length > 0) throw new Error(`${missing.length} deliveries did not arrive`);
  const since = (from: 'askedAt' | 'acceptedAt') =>
    percentiles([...asked].map(([id, at]) => Math.max(0, arrivals[id]! - at[from])));
  return { fromRequest: since('askedAt'), fromAcceptance: since('acceptedAt') };
}
