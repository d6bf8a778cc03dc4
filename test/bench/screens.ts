import { demoOrganization, fillDemo } from '../../src/demo/fill.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import type { Db } from '../../src/lib/db/db.ts';
import { signIn } from '../support/make/session.ts';
import { type BenchDatabase, benchDatabase } from './database.ts';
import { applyLoad, get, type Measured } from './load.ts';
import {
  costOf,
  type ProcessorTime,
  processorTimeOf,
  processorTimeOfPostgres,
} from './processor-time.ts';
import { type Size, seed } from './seed.ts';
import { type Service, startService } from './service.ts';

export const connections = 64;
const seconds = 3;
const warmUpSeconds = 2;
/** The first organization gets over half of all responses. Each of the others has about as many as the demo. */
const sizeOfMany: Size = { organizations: connections + 1, responses: 180_000, contacts: 40_000 };
const largeSlug = 'organization-1';

/** The most visited screens, by their path below the organization. */
const screens = [
  ['Home', ''],
  ['a list of 50', '/responses?limit=50'],
  ['Settings', '/settings/general'],
] as const;

/** Members of the connections: all of one organization, or each of another. */
export const ofOne = 'of one organization';
export const ofMany = 'each of another';
type Crowd = typeof ofOne | typeof ofMany;

export type ScreenCost = {
  screen: string;
  crowd: Crowd;
  measured: Measured;
  /** CPU time per page. */
  us: { service: number; postgres: number };
};

type Reader = { home: string; cookie: { Cookie: string } };

/** Opens each screen over many connections at once. Each connection has its own session and member. */
export async function measureScreens(server: string): Promise<ScreenCost[]> {
  const shared = await withDatabase(server, async ({ url, db }) => {
    await fillDemo({ db, secrets: createSecrets([Buffer.alloc(32, 1)]) }, new Date());
    return await withService(url, (service) => measureCrowd(service, db, ofOne));
  });
  const apart = await withDatabase(server, async ({ url, db }) => {
    await seed(db, sizeOfMany);
    return await withService(url, (service) => measureCrowd(service, db, ofMany));
  });
  return [...shared, ...apart];
}

async function withDatabase<T>(server: string, work: (database: BenchDatabase) => Promise<T>) {
  const database = await benchDatabase(server);
  try {
    return await work(database);
  } finally {
    await database.drop();
  }
}

async function withService<T>(url: string, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService(url);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

async function measureCrowd({ port, pid }: Service, db: Db, crowd: Crowd): Promise<ScreenCost[]> {
  const readers = await signInReaders(db, crowd);
  const parts = { service: processorTimeOf(pid), postgres: await processorTimeOfPostgres(db) };
  const costs: ScreenCost[] = [];
  for (const [screen, path] of screens) {
    const requests = readers.map(({ home, cookie }) => get(`${home}${path}`, cookie));
    const load = { port, requests, connections };
    await applyLoad({ ...load, seconds: warmUpSeconds });
    const { measured, us } = await measurePages(parts, () => applyLoad({ ...load, seconds }));
    const refused = Object.keys(measured.refused);
    if (refused.length > 0) throw new Error(`${screen}: some were answered ${refused.join(', ')}`);
    costs.push({ screen, crowd, measured, us });
  }
  return costs;
}

type Parts = Readonly<Record<keyof ScreenCost['us'], ProcessorTime>>;

async function measurePages(parts: Parts, work: () => Promise<Measured>) {
  const { result: measured, us } = await costOf({ units: 1, parts }, work);
  const { service, postgres } = us;
  const { count } = measured;
  return { measured, us: { service: service / count, postgres: postgres / count } };
}

/** Signs in one member per connection. */
async function signInReaders(db: Db, crowd: Crowd): Promise<Reader[]> {
  const organizations = await db<{ id: string; slug: string }[]>`
    select id, slug
    from organizations
    where case when ${crowd === ofOne} then id = ${demoOrganization} else slug <> ${largeSlug} end`;
  return await Promise.all(
    Array.from({ length: connections }, async (_, n) => {
      const { id, slug } = organizations[n % organizations.length]!;
      return { home: `/o/${slug}`, cookie: await signIn(db, { org: id }) };
    }),
  );
}
