import { Agent, request } from 'undici';
import { type BenchDatabase, benchDatabase } from './database.ts';
import { percentiles } from './load.ts';
import { processorTimeOf, processorTimeOfPostgres } from './processor-time.ts';
import { number, type Section, table } from './report.ts';
import { type Service, startService } from './service.ts';
import { addContacts, addSurveys } from './surveys.ts';

const processCounts = [1, 2, 4];
/** Answers a second, one step after the other until something gives. */
const rates = [50, 100, 200, 400, 800, 1600, 3200];
const stepSeconds = 8;
const surveys = 500;
const connections = 256;
const patienceMs = 10_000;
const lookEveryMs = 500;
/** A step holds when all of its answers are acknowledged, and 99 of 100 within this. */
const p99Ms = 1000;

/**
 * Answers come at a rate that doubles, whatever becomes of those before: what gives first, and how the metrics show
 * it. Services, callers and Postgres share one machine, so the columns say which of them has its processors.
 */
export async function rising(server: string): Promise<Section[]> {
  const steps: Step[] = [];
  for (const processes of processCounts) steps.push(...(await climb(server, processes)));
  return [{ title: 'Rising load: what gives first', lines: lines(steps) }];
}

async function climb(server: string, processes: number): Promise<Step[]> {
  const database = await benchDatabase(server);
  const services: Service[] = [];
  const agent = new Agent({ connections, headersTimeout: patienceMs, bodyTimeout: patienceMs });
  try {
    const all = [...rates, rates.at(-1)!];
    const total = all.reduce((sum, rate) => sum + rate * stepSeconds, 0);
    const made = await addSurveys(database.db, { surveys, webhooks: false });
    const tokens = await addContacts(database.db, made, Math.ceil(total / surveys));
    await database.db`vacuum analyze organizations, surveys, contacts, survey_tallies`;
    for (let n = 0; n < processes; n += 1) services.push(await startService(database.url));
    const stage = { database, services, agent, tokens };
    const steps: Step[] = [];
    for (const rate of rates) {
      const step = await measureTwice(stage, rate);
      console.error(`${processes} processes, ${rate}/s: p99 ${number(step.p99)} ms`);
      steps.push(step);
      if (!step.holds) break;
    }
    return steps;
  } finally {
    await agent.destroy();
    for (const service of services) await service.stop();
    await database.drop();
  }
}

type RisingStage = {
  database: BenchDatabase;
  services: readonly Service[];
  agent: Agent;
  tokens: string[];
};

type Step = {
  processes: number;
  rate: number;
  holds: boolean;
  acknowledgedPerSecond: number;
  p50: number;
  p99: number;
  outcomes: string;
  waiting: number;
  /** Processors in use. */
  service: number;
  postgres: number;
  callers: number;
};

/** Other work on the machine may be what gives: a step that does not hold is tried once more. */
async function measureTwice(stage: RisingStage, rate: number): Promise<Step> {
  const first = await measureStep(stage, rate);
  if (first.holds) return first;
  const second = await measureStep(stage, rate);
  return second.p99 < first.p99 ? second : first;
}

async function measureStep(stage: RisingStage, rate: number): Promise<Step> {
  const { database, services } = stage;
  const parts = {
    service: services.map(({ pid }) => processorTimeOf(pid)),
    postgres: [await processorTimeOfPostgres(database.db)],
    callers: [() => process.cpuUsage().user + process.cpuUsage().system],
  };
  const used = (name: keyof typeof parts) => parts[name].reduce((sum, time) => sum + time(), 0);
  const names = Object.keys(parts) as (keyof typeof parts)[];
  const before = names.map(used);
  const begun = performance.now();
  const pool = watchWaiting(services);
  const answers = await answerAt(stage, rate);
  const elapsedMs = performance.now() - begun;
  const cores = names.map((name, at) => (used(name) - before[at]!) / 1000 / elapsedMs);
  const acknowledged = answers.filter(({ status }) => status === 201);
  const { p50, p99 } = percentiles(answers.map(({ ms }) => ms));
  return {
    processes: services.length,
    rate,
    p50,
    p99,
    holds: acknowledged.length === answers.length && p99 <= p99Ms,
    acknowledgedPerSecond: (acknowledged.length * 1000) / elapsedMs,
    outcomes: countOutcomes(answers),
    waiting: await pool.most(),
    service: cores[0]!,
    postgres: cores[1]!,
    callers: cores[2]!,
  };
}

type Outcome = { status: number | string; ms: number };

/** Each has its moment, and its time runs from then on. */
async function answerAt(stage: RisingStage, rate: number): Promise<Outcome[]> {
  const { tokens, services } = stage;
  const begun = performance.now();
  const open: Promise<Outcome>[] = [];
  for (const token of tokens.splice(0, rate * stepSeconds)) {
    const dueAt = begun + (open.length * 1000) / rate;
    const early = dueAt - performance.now();
    if (early > 1) await new Promise((due) => setTimeout(due, early));
    const { port } = services[open.length % services.length]!;
    open.push(answerOne(stage.agent, { url: `http://127.0.0.1:${port}/s/${token}`, dueAt }));
  }
  return await Promise.all(open);
}

async function answerOne(agent: Agent, { url, dueAt }: { url: string; dueAt: number }) {
  const status = await request(url, {
    method: 'POST',
    dispatcher: agent,
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 9, comment: 'quick and helpful' }),
  }).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    },
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  return { status, ms: performance.now() - dueAt };
}

function countOutcomes(answers: readonly Outcome[]): string {
  return [...Map.groupBy(answers, ({ status }) => status)]
    .map(([status, { length }]) => `${status}: ${number(length)}`)
    .toSorted()
    .join(', ');
}

/** The most that waited for a connection at one moment, over all processes. */
function watchWaiting(services: readonly Service[]) {
  let most = 0;
  let looking = Promise.resolve();
  const look = async () => {
    const pages = services.map(({ port }) => fetch(`http://127.0.0.1:${port}/metrics`));
    const texts = await Promise.all(pages.map(async (page) => await (await page).text()));
    const now = texts.map((text) => Number(/^askback_db_pool_waiting (\d+)/m.exec(text)?.[1] ?? 0));
    most = Math.max(most, ...now);
  };
  const timer = setInterval(() => {
    looking = looking.then(look).catch(() => {});
  }, lookEveryMs);
  return {
    async most() {
      clearInterval(timer);
      await looking;
      return most;
    },
  };
}

function lines(steps: readonly Step[]): string[] {
  const heads = ['processes', 'asked', 'acknowledged', 'p50 ms', 'p99 ms', 'waiting'];
  return table(
    [...heads, 'service', 'Postgres', 'callers', 'outcomes'],
    steps.map((step) => [
      `${step.processes}`,
      `${number(step.rate)}/s`,
      `${number(step.acknowledgedPerSecond)}/s`,
      number(step.p50),
      number(step.p99),
      number(step.waiting),
      ...[step.service, step.postgres, step.callers].map((cores) => number(cores, 2)),
      step.outcomes,
    ]),
  );
}
