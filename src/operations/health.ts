import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { ping } from '../lib/db/await-database.ts';
import { type Db, isDatabaseAway } from '../lib/db/db.ts';
import { readMigrations, schemaState } from '../lib/db/migrate.ts';

/** Looks at one thing and says what is wrong with it, if something is. */
export type Check = () => string | undefined | Promise<string | undefined>;
export type Checks = Readonly<Record<string, Check>>;

const patienceMs = 2000;

/** `/healthz` is alive without asking anybody; `/readyz` names what keeps it from serving. */
export function healthRoutes(checks: Checks) {
  let asking: Promise<Record<string, string>> | undefined;
  /** Callers that come at the same time share one look. */
  const look = () => {
    asking ??= failedChecks(checks).finally(() => {
      asking = undefined;
    });
    return asking;
  };

  return new Hono()
    .get('/healthz', (c) => c.json({ status: 'ok' }))
    .get('/readyz', async (c) => {
      const red = await look();
      const ready = Object.keys(red).length === 0;
      c.header('Cache-Control', 'no-store');
      if (ready) return c.json({ status: 'ready' });
      const error = `not ready: ${Object.values(red).join('; ')}`;
      return c.json({ status: 'not ready', error, red }, 503);
    });
}

/** What is wrong, by the name of what was looked at. */
export async function failedChecks(checks: Checks): Promise<Record<string, string>> {
  const looks = Object.entries(checks).map(async ([name, check]) => [name, await inTime(check)]);
  return Object.fromEntries((await Promise.all(looks)).filter(([, why]) => why !== undefined));
}

async function inTime(check: Check): Promise<string | undefined> {
  const late = new AbortController();
  const timeout = sleep(patienceMs, 'did not answer in time', { signal: late.signal });
  try {
    return await Promise.race([check(), timeout]);
  } catch {
    return 'could not be looked at';
  } finally {
    late.abort();
    timeout.catch(() => {});
  }
}

/** The database answers, and has the schema that this program was written for. */
export function databaseChecks(db: Db): Checks {
  const migrations = readMigrations();
  return {
    database: () => unlessAway(() => ping(db), 'cannot be reached'),
    schema: () =>
      unlessAway(async () => {
        const { missing, unknown } = await schemaState(db, migrations);
        if (missing.length > 0) return `lacks ${missing.join(', ')}`;
        return unknown.length > 0 ? `is newer: it has ${unknown.join(', ')}` : undefined;
      }, undefined),
  };
}

/** An outage is the database's own redness; the schema is not blamed for it. */
async function unlessAway(ask: () => Promise<string | undefined>, away: string | undefined) {
  try {
    return await ask();
  } catch (error) {
    if (isDatabaseAway(error)) return away;
    throw error;
  }
}
