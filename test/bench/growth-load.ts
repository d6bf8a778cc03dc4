import type { Client } from './clients.ts';
import { endpoints } from './endpoints.ts';
import { applyLoad, get, type Measured, post } from './load.ts';
import { costOf, type ProcessorTime } from './processor-time.ts';

/** One kind of request: its latency, and the processor time of each. */
export type Cost = {
  name: string;
  perSecond: number;
  p50: number;
  p99: number;
  us: { service: number; postgres: number };
};

export type Stage = {
  ports: readonly number[];
  parts: { service: ProcessorTime; postgres: ProcessorTime };
  clients: readonly Client[];
  /** Links to be answered; what is taken is gone. */
  tokens: string[];
};

const connections = 16;
const seconds = 1.5;
const warmUpSeconds = 0.5;
const samples = 200;
const answersEach = 400;
const warmUpAnswers = 60;

/** Reads whose cost could grow with what is stored; the others of `reads` are like one of these. */
const readNames = [
  'surveys/:id',
  'responses',
  'responses of the large organization',
  'responses, page 10,000',
  'responses of a category',
  'responses, search for a rare word',
  'nps',
  'nps of the large organization',
  'nps since a time',
  'contacts',
];
const fewNames = ['responses', 'nps'];

/** Every read, and answers. */
export const measureAll = (stage: Stage) => measure(stage, readNames);

/** Two reads, and answers. */
export const measureFew = (stage: Stage) => measure(stage, fewNames);

async function measure(stage: Stage, names: readonly string[]): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (const name of names) costs.push(await measureRead(stage, name));
  return [...costs, await measureAnswers(stage)];
}

async function measureRead(stage: Stage, name: string): Promise<Cost> {
  const { of, path } = endpoints.find((each) => each.name === name)!;
  const asking = stage.clients.filter((client) => of === 'any' || client.large);
  const requests = Array.from({ length: samples }, (_, n) => {
    const client = asking[(n * 7919) % asking.length]!;
    return get(path(client), { 'X-API-Key': client.key });
  });
  await loadAll(stage, requests, { seconds: warmUpSeconds });
  return await priced(stage, name, () => loadAll(stage, requests, { seconds }));
}

async function measureAnswers(stage: Stage): Promise<Cost> {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const take = (count: number) =>
    stage.tokens
      .splice(0, count)
      .map((token, n) =>
        post(
          `/s/${token}`,
          JSON.stringify({ score: n % 11, comment: 'quick and helpful' }),
          headers,
        ),
      );
  const patience = { seconds: 60, once: true };
  await loadAll(stage, take(warmUpAnswers), patience);
  const requests = take(answersEach);
  return await priced(stage, 'answers', () => loadAll(stage, requests, patience));
}

async function priced(
  { parts }: Stage,
  name: string,
  work: () => Promise<Measured>,
): Promise<Cost> {
  const { result, us } = await costOf({ units: 1, parts }, work);
  const { perSecond, p50, p99, count, refused } = result;
  if (Object.keys(refused).length > 0)
    throw new Error(`${name}: some were answered ${Object.keys(refused).join(', ')}`);
  const each = { service: us.service / count, postgres: us.postgres / count };
  console.error(`${name}: ${Math.round(perSecond)}/s`);
  return { name, perSecond, p50, p99, us: each };
}

/** The same connections in all, shared between the processes. Latencies are those of the slowest. */
async function loadAll(
  { ports }: Stage,
  requests: readonly string[],
  how: { seconds: number; once?: boolean },
): Promise<Measured> {
  const all = await Promise.all(
    ports.map((port, at) =>
      applyLoad({
        port,
        ...how,
        connections: connections / ports.length,
        requests: requests.filter((_, n) => n % ports.length === at),
      }),
    ),
  );
  const sum = (of: (each: Measured) => number) => all.reduce((total, each) => total + of(each), 0);
  return {
    perSecond: sum((each) => each.perSecond),
    count: sum((each) => each.count),
    p50: Math.max(...all.map((each) => each.p50)),
    p99: Math.max(...all.map((each) => each.p99)),
    refused: Object.assign({}, ...all.map((each) => each.refused)),
  };
}
