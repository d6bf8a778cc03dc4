import type { Db } from '../../src/lib/db/db.ts';
import {
  canCarryPrepared,
  preparedSettings,
  unpreparedSettings,
} from '../support/processes/pgbouncer.ts';
import { type Client, issueKeys } from './clients.ts';
import { type BenchDatabase, benchDatabase } from './database.ts';
import { type Cost, measureAll, measureFew, type Stage } from './growth-load.ts';
import { hasPooler, startPooler } from './growth-pooler.ts';
import { storageOf } from './growth-storage.ts';
import { costTable, type GrowthRun, severalTable, storageTable } from './growth-tables.ts';
import { processorTimeOf, processorTimeOfPostgres } from './processor-time.ts';
import { number, type Section } from './report.ts';
import { seed } from './seed.ts';
import { startService } from './service.ts';

/** Answers stored, each a run of its own; BENCH_ANSWERS names others. */
const usualSizes = '10000 1000000 10000000';
const organizations = 200;
const answersPerContact = 5;
/** Enough links without an answer for all measurements, also of the smallest size. */
const fewestContacts = 16_000;
const idleMs = 3000;

type Setting = Pick<GrowthRun['several'][number], 'processes' | 'pooler'>;
const settings: readonly Setting[] = [
  { processes: 1, pooler: 'none' },
  { processes: 2, pooler: 'none' },
  { processes: 4, pooler: 'none' },
  { processes: 4, pooler: 'PgBouncer' },
  { processes: 4, pooler: 'PgBouncer, prepared' },
];

/**
 * The same reads and writes at each size, by one process; then a few of them by several processes, and through
 * PgBouncer, one that carries prepared statements as well if PGBOUNCER names it. All share the processors of this machine, so that processor time says more than rates.
 */
export async function growth(server: string): Promise<Section[]> {
  const sizes = (process.env['BENCH_ANSWERS'] ?? usualSizes).split(' ').map(Number);
  const runs: GrowthRun[] = [];
  for (const answers of sizes) runs.push(await measureSize(server, answers));
  return [
    { title: 'Growth: what reads and writes cost', lines: costTable(runs) },
    { title: 'Growth: what is stored', lines: storageTable(runs) },
    { title: 'Growth: several processes', lines: severalTable(runs) },
  ];
}

async function measureSize(server: string, answers: number): Promise<GrowthRun> {
  const database = await benchDatabase(server);
  try {
    console.error(`seeding ${number(answers)} answers...`);
    const began = performance.now();
    const contacts = Math.max(answers / answersPerContact, fewestContacts);
    await seed(database.db, { organizations, responses: answers, contacts });
    const seedSeconds = (performance.now() - began) / 1000;
    console.error(`seeded in ${number(seedSeconds)} s`);
    const storage = await storageOf(database.db);
    const place = {
      database,
      clients: await issueKeys(database.db),
      tokens: await openTokens(database.db),
    };
    const costs = await withServices(place, settings[0]!, measureAll);
    const several: GrowthRun['several'] = [];
    for (const setting of settings) {
      if (setting.pooler !== 'none' && !hasPooler(server)) continue;
      if (setting.pooler === 'PgBouncer, prepared' && !canCarryPrepared()) continue;
      several.push({ ...setting, costs: await withServices(place, setting, measureFew) });
    }
    return { answers, seedSeconds, storage, costs, several };
  } finally {
    await database.drop();
  }
}

/** Links of contacts that have not answered, in an order in which neighbours differ in survey. */
async function openTokens(db: Db): Promise<string[]> {
  const rows = await db<{ token: string }[]>`
    select token from contacts where responded_at is null order by md5(token) limit ${fewestContacts / 4}`;
  return rows.map(({ token }) => token);
}

type Place = { database: BenchDatabase; clients: readonly Client[]; tokens: string[] };

async function withServices(
  { database, clients, tokens }: Place,
  { processes, pooler: kind }: Setting,
  measure: (stage: Stage) => Promise<Cost[]>,
): Promise<Cost[]> {
  const prepared = kind === 'PgBouncer, prepared' ? preparedSettings() : unpreparedSettings();
  const pooler = kind === 'none' ? undefined : await startPooler(database.url, prepared);
  const own = pooler ? { ASKBACK_SESSION_DATABASE_URL: database.url } : {};
  const services = [];
  for (let n = 0; n < processes; n += 1) {
    services.push(await startService(pooler?.url ?? database.url, own));
  }
  try {
    await new Promise((idle) => setTimeout(idle, idleMs));
    const each = services.map(({ pid }) => processorTimeOf(pid));
    const parts = {
      service: () => each.reduce((sum, used) => sum + used(), 0),
      postgres: await processorTimeOfPostgres(database.db),
    };
    return await measure({ ports: services.map(({ port }) => port), parts, clients, tokens });
  } finally {
    for (const service of services) await service.stop();
    await pooler?.stop();
  }
}
