import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../src/lib/db/db.ts';
import { listSteps, type StepState } from '../../src/lib/db/migrate-step-state.ts';
import { type Client, issueKeys } from './clients.ts';
import { benchDatabase } from './database.ts';
import { applyLoad, get, type Measured, post } from './load.ts';
import { number, type Section, table } from './report.ts';
import { seed } from './seed.ts';
import { type Service, startService } from './service.ts';

const responses = Number(process.env['BENCH_ANSWERS'] ?? 1_000_000);
const size = { organizations: 20, responses, contacts: responses / 10 };
const seconds = 15;
const perSecond = 20;
const lookEveryMs = 100;

/**
 * What the steps of migrations cost requests that come meanwhile: the steps of today's schema, on a database
 * that is filled as an upgrade finds it. A process is killed in the middle of them.
 */
export async function steps(server: string): Promise<Section[]> {
  const { url, db, drop } = await benchDatabase(server);
  try {
    console.error(`seeding ${number(responses)} answers...`);
    await seed(db, size);
    const clients = await issueKeys(db);
    const tokens = await listTokens(db);
    await openAllSteps(db);

    const begun = performance.now();
    const killed = await startService(url);
    const during = await measure(killed, { clients, tokens });
    process.kill(killed.pid, 'SIGKILL');
    const atKill = await listSteps(db);
    const service = await startService(url);
    try {
      await untilEnded(db);
      const seconds = (performance.now() - begun) / 1000;
      const ended = await listSteps(db);
      const after = await measure(service, { clients, tokens });
      return [
        { title, lines: [...rowsOf(during, after), '', ...accountOf({ seconds, atKill, ended })] },
      ];
    } finally {
      await service.stop();
    }
  } finally {
    await drop();
  }
}

const title = `Steps of migrations: ${number(responses)} answers, ${3 * perSecond} requests a second meanwhile`;

/** As an upgrade leaves it: nothing counted, an index that is not there, a constraint that nothing has validated. */
async function openAllSteps(db: Db) {
  await db`drop index day_tallies_without_half_hours, organization_day_tallies_without_half_hours`;
  await db`
    update pg_constraint set convalidated = false where conname = 'responses_have_members_as_owners'`;
  await db`
    update migration_steps
    set started_at = null, worker = null, last_key = null, rows_done = 0, rows_estimated = null,
        progressed_at = null, ended_at = null`;
}

const listTokens = async (db: Db) =>
  (
    await db<{ token: string }[]>`
      select token from contacts where responded_at is null order by token limit ${4 * seconds * perSecond}`
  ).map(({ token }) => token);

type Asking = { clients: readonly Client[]; tokens: string[] };
type Costs = Record<'NPS' | 'page of responses' | 'answer', Measured>;

/** Each at its own pace and at the same time. */
async function measure({ port }: Service, { clients, tokens }: Asking): Promise<Costs> {
  const load = { port, connections: 4, seconds, rate: perSecond };
  const read = (path: string) =>
    applyLoad({
      ...load,
      requests: clients.map(({ key }) => get(path, { 'X-API-Key': key })),
    });
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const answers = tokens
    .splice(0, seconds * perSecond)
    .map((token, n) => post(`/s/${token}`, JSON.stringify({ score: n % 11 }), headers));
  const [nps, page, answer] = await Promise.all([
    read('/api/v1/nps'),
    read('/api/v1/responses'),
    applyLoad({ ...load, requests: answers, once: true }),
  ]);
  const costs = { NPS: nps!, 'page of responses': page!, answer: answer! };
  for (const [name, { refused }] of Object.entries(costs)) {
    if (Object.keys(refused).length > 0) throw new Error(`${name}: ${JSON.stringify(refused)}`);
  }
  return costs;
}

async function untilEnded(db: Db) {
  while ((await listSteps(db)).some(({ ended_at }) => ended_at === null)) await sleep(lookEveryMs);
}

const rowsOf = (during: Costs, after: Costs) =>
  table(
    ['', 'p50 ms during', 'p99 ms', 'p50 ms after', 'p99 ms'],
    Object.entries(during).map(([name, { p50, p99 }]) => {
      const quiet = after[name as keyof Costs];
      return [name, number(p50, 1), number(p99, 1), number(quiet.p50, 1), number(quiet.p99, 1)];
    }),
  );

type Account = { seconds: number; atKill: readonly StepState[]; ended: readonly StepState[] };

function accountOf({ seconds, atKill, ended }: Account): string[] {
  const done = (states: readonly StepState[]) =>
    states.reduce((sum, { rows_done }) => sum + rows_done, 0);
  return [
    `${ended.length} steps took ${number(seconds)} s. The process was killed after ${number(done(atKill))} rows of ${number(done(ended))}; ` +
      'the next one went on from there.',
  ];
}
