import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { DrillScene } from './scene.ts';

export type Pace = {
  answersPerSecond: number;
  /** Contacts per send request. There is a pause between requests. */
  contactsPerSend: number;
  /** Callers retry requests that got no response or a 503. */
  again: boolean;
};

export type Kind = 'answer' | 'send' | 'read';

/** A request from the caller's point of view. A failure has its code instead of a status. */
export type Attempt = { kind: Kind; begunAt: number; endedAt: number; status: number | string };

export type Traffic = {
  attempts: Attempt[];
  /** Ids of answers that were acknowledged with 201. */
  acknowledged: string[];
  /** Addresses that were reported as sent. */
  sent: Set<string>;
};

const connections = 300;
const patienceMs = 10_000;
const againMs = 400;
const giveUpMs = 180_000;
const readEveryMs = 100;
const sendPauseMs = 200;

type Tools = { scene: DrillScene; agent: Agent; traffic: Traffic; isOver: () => boolean };

/** Sends answers, sends and reads at fixed rates, even if earlier requests are late, until `stop`. */
export function startTraffic(scene: DrillScene, pace: Pace) {
  const agent = new Agent({ connections, headersTimeout: patienceMs, bodyTimeout: patienceMs });
  const traffic: Traffic = { attempts: [], acknowledged: [], sent: new Set() };
  let over = false;
  const tools = { scene, agent, traffic, isOver: () => over };
  const callers = Promise.all([answer(tools, pace), send(tools, pace), read(tools)]);
  callers.catch(() => {});
  return {
    traffic,
    /** Starts no new requests and waits for the ones in flight. */
    async stop() {
      over = true;
      await callers;
      await agent.destroy();
    },
  };
}

async function answer(tools: Tools, { answersPerSecond, again }: Pace) {
  const { scene, traffic, isOver } = tools;
  const began = performance.now();
  const open: Promise<void>[] = [];
  for (let n = 0; n < scene.tokens.length && !isOver(); n += 1) {
    await sleep(Math.max(0, began + (n * 1000) / answersPerSecond - performance.now()));
    open.push(answerOne(n));
  }
  await Promise.all(open);

  async function answerOne(n: number) {
    const path = `/s/${scene.tokens[n]}`;
    const body = JSON.stringify({ score: n % 11, comment: 'quick and helpful' });
    const giveUpAt = performance.now() + giveUpMs;
    for (let tries = n; performance.now() < giveUpAt; tries += 1) {
      const { status, text } = await ask(tools, { kind: 'answer', path, body, place: tries });
      if (status === 201) traffic.acknowledged.push(JSON.parse(text).data.id);
      if (status === 201 || status === 409 || !again) return;
      await sleep(againMs);
    }
    throw new Error(`an answer was refused for ${giveUpMs / 1000} s`);
  }
}

type SendResult = { email: string; status: string; reason_code?: string };

async function send(tools: Tools, { contactsPerSend, again }: Pace) {
  const { scene, traffic, isOver } = tools;
  for (let n = 0; !isOver(); n += 1) {
    const emails = Array.from({ length: contactsPerSend }, (_, at) => `c${n}-${at}@people.test`);
    const body = JSON.stringify({ contacts: emails.map((email) => ({ email })) });
    const path = `/api/v1/surveys/${scene.mailedSurvey}/send`;
    const giveUpAt = performance.now() + giveUpMs;
    for (let place = n; performance.now() < giveUpAt; place += 1) {
      const { status, text } = await ask(tools, { kind: 'send', path, body, place });
      const results: SendResult[] = status === 200 ? JSON.parse(text).data.results : [];
      for (const { email, status: word } of results) if (word === 'sent') traffic.sent.add(email);
      if (!again || (results.length > 0 && results.every(isFinal))) break;
      await sleep(againMs);
    }
    await sleep(sendPauseMs);
  }
}

const isFinal = ({ status, reason_code }: SendResult) =>
  status !== 'duplicate' || reason_code !== 'in_flight';

async function read(tools: Tools) {
  const open: Promise<unknown>[] = [];
  for (let place = 0; !tools.isOver(); place += 1) {
    open.push(ask(tools, { kind: 'read', path: '/api/v1/responses?limit=20', place }));
    await sleep(readEveryMs);
  }
  await Promise.all(open);
}

type Question = { kind: Kind; path: string; body?: string; place: number };

async function ask({ scene, agent, traffic }: Tools, { kind, path, body, place }: Question) {
  const url = `${scene.addresses[place % scene.addresses.length]}${path}`;
  const headers = { ...scene.client.write, 'Content-Type': 'application/json' };
  const begunAt = Date.now();
  const { status, text } = await request(url, {
    headers,
    dispatcher: agent,
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body }),
  }).then(
    async ({ statusCode, body: got }) => ({ status: statusCode, text: await got.text() }),
    (error: NodeJS.ErrnoException) => ({ status: error.code ?? error.message, text: '' }),
  );
  traffic.attempts.push({ kind, begunAt, endedAt: Date.now(), status });
  return { status, text };
}
