import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

type Giving = { tokens: readonly string[]; addresses: readonly string[]; perSecond: number };

const atOnce = 200;
const againMs = 100;
const patienceMs = 300_000;
const answerMs = 10_000;

/** Ids of acknowledged answers, and the number of 500 responses. */
type AnswersGiven = { acknowledged: string[]; faults: number };

/**
 * Answers through personal links at a fixed rate. Callers retry until they get a response, at another address if there
 * is one.
 */
export async function giveAnswers({ tokens, addresses, perSecond }: Giving): Promise<AnswersGiven> {
  const agent = new Agent({ connections: atOnce, headersTimeout: answerMs, bodyTimeout: answerMs });
  const given: AnswersGiven = { acknowledged: [], faults: 0 };
  const startedAt = performance.now();
  let next = 0;

  const worker = async () => {
    while (next < tokens.length) {
      const number = next++;
      await sleep(Math.max(0, startedAt + (number * 1000) / perSecond - performance.now()));
      await giveOne({ agent, addresses, given }, tokens[number]!, number);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  await agent.destroy();
  return given;
}

type Means = { agent: Agent; addresses: readonly string[]; given: AnswersGiven };

async function giveOne({ agent, addresses, given }: Means, token: string, number: number) {
  const until = performance.now() + patienceMs;
  for (let tries = number; performance.now() < until; tries++) {
    const url = `${addresses[tries % addresses.length]}/s/${token}`;
    const answer = await post(agent, url);
    if (answer === null || answer.status >= 500) {
      if (answer?.status === 500) given.faults += 1;
      await sleep(againMs);
    } else if (answer.status === 409) return;
    else if (answer.status === 201) {
      given.acknowledged.push(JSON.parse(answer.body).data.id);
      return;
    } else throw new Error(`an answer was refused: ${answer.status} ${answer.body}`);
  }
  throw new Error(`no service accepted an answer for ${patienceMs / 1000} s`);
}

async function post(agent: Agent, url: string) {
  try {
    const headers = { 'content-type': 'application/json' };
    const body = '{"score":9}';
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent });
    return { status: answer.statusCode, body: await answer.body.text() };
  } catch {
    return null;
  }
}
