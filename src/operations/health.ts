import { Hono } from 'hono';
import { ping } from '../lib/db/await-database.ts';
import { type Db, isDatabaseAway } from '../lib/db/db.ts';
import { readMigrations, schemaState } from '../lib/db/migrate.ts';
import { type Checks, failedChecks } from '../lib/process/checks.ts';

/**
 * `/healthz` answers without asking anything; `/readyz` names what keeps the process from serving. What
 * `warnings` find is shown there too and makes it no less ready.
 */
export function healthRoutes(checks: Checks, warnings: Checks = {}) {
  let looking: Promise<Readiness> | undefined;
  /** Callers that come at the same time share one look. */
  const look = () => {
    looking ??= lookOnce(checks, warnings).finally(() => {
      looking = undefined;
    });
    return looking;
  };

  return new Hono()
    .get('/healthz', (c) => c.json({ status: 'ok' }, 200, { 'Cache-Control': 'no-store' }))
    .get('/readyz', async (c) => {
      const { failing, warned } = await look();
      c.header('Cache-Control', 'no-store');
      const extras = Object.keys(warned).length > 0 ? { warnings: warned } : {};
      if (Object.keys(failing).length === 0) return c.json({ status: 'ready', ...extras });
      const error = `not ready: ${Object.values(failing).join('; ')}`;
      return c.json({ status: 'not ready', error, failing, red: failing, ...extras }, 503);
    });
}

type Readiness = { failing: Record<string, string>; warned: Record<string, string> };

async function lookOnce(checks: Checks, warnings: Checks): Promise<Readiness> {
  const [failing, warned] = await Promise.all([failedChecks(checks), failedChecks(warnings)]);
  return { failing, warned };
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

/** The way that requests take may be away while the direct one is not. */
export const poolerCheck = (pool: Db) => () =>
  unlessAway(() => ping(pool), 'DATABASE_URL cannot be reached');

/** During an outage the check of the database fails, and no other is blamed for it. */
async function unlessAway(ask: () => Promise<string | undefined>, away: string | undefined) {
  try {
    return await ask();
  } catch (error) {
    if (isDatabaseAway(error)) return away;
    throw error;
  }
}
