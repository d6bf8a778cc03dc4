import { Hono } from 'hono';
import type { CommandTools } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { cacheWithTtl } from '../lib/async/cache-with-ttl.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { ping } from '../lib/db/await-database.ts';
import { connect, type Db, isDatabaseAway, type Sql } from '../lib/db/db.ts';
import { readMigrations, schemaState } from '../lib/db/migrate.ts';
import { warnOfPatchLevel } from '../lib/db/patch-level.ts';
import { httpAddress } from '../lib/http/http-address.ts';
import { type Checks, findFailedChecks, type Lifecycle } from '../lib/process/lifecycle.ts';
import type { Jobs, RunnerState } from '../lib/queue/runner.ts';
import type { ServerProblem } from '../lib/smtp/smtp.ts';
import {
  type Database,
  hasJobsProcess,
  openDatabase,
  readServiceRecord,
} from '../open-database.ts';
import type { Config } from '../settings.ts';
import type { ProcessRole } from '../settings-validators.ts';
import { listSealedSamples } from './queries.ts';

const secretsCheckEveryMs = 60_000;
const timeoutMs = 1000;

type ReadinessTools = {
  parts: Lifecycle;
  database: Pick<Database, 'db' | 'sessions' | 'isApart'>;
  role: ProcessRole | null;
  secrets: Secrets;
  jobs: Jobs | undefined;
  mailProblem?: (() => ServerProblem | null) | undefined;
};

export type Readiness = {
  checks: Checks;
  warnings: Checks;
  drain: () => void;
};

export async function startReadiness(tools: ReadinessTools): Promise<Readiness> {
  const { parts, database, secrets, jobs, role, mailProblem } = tools;
  const { url, servers } = database.sessions;
  // A separate connection, because a busy pool does not mean that the database is down.
  const db = await parts.start(
    'probes',
    () =>
      connect(url, {
        program: 'askback',
        connections: 1,
        ...(servers && { socket: servers.socket }),
      }),
    (it) => it.end({ timeout: 1 }),
  );
  let draining = false;
  // A process without a runner still answers requests, for example while the disk of the database is full.
  const runner = jobs && { runners: () => runnerDown(jobs.state()) };
  const unreadable = cacheWithTtl(() => countUnreadableSecrets(db, secrets), {
    ttlMs: secretsCheckEveryMs,
    timeoutMs,
  });
  return {
    checks: {
      ...databaseChecks(db),
      ...(database.isApart && { pooler: poolerCheck(database.db) }),
      ...(role === 'jobs' && runner),
      draining: () => (draining ? 'is stopping' : undefined),
    },
    warnings: {
      ...(role !== 'jobs' && runner),
      postgres: () => ignoreOutage(() => warnOfPatchLevel(db), undefined),
      secrets: async () => wrongKeySentence((await unreadable()) ?? 0),
      ...(mailProblem && { mail: () => mailSentence(mailProblem()) }),
      ...(role === 'web' && {
        jobs: async () => ((await hasJobsProcess(db)) ? undefined : noJobs),
      }),
    },
    drain: () => {
      draining = true;
    },
  };
}

const waits = 'emails, deliveries and analyses wait';
const noJobs = `no process with the role jobs is running: ${waits}`;

const mailSentences: Record<ServerProblem, string> = {
  unreachable: 'the mail server is unreachable: campaigns wait, other sends fail',
  refused: 'the mail server refuses the connection or the login: campaigns pause, other sends fail',
};

const mailSentence = (problem: ServerProblem | null) =>
  problem ? `${mailSentences[problem]}. Run askback doctor to see why` : undefined;

const runnerDown = ({ state }: RunnerState) =>
  state === 'running' ? undefined : `the job runner of this process is not running: ${waits}`;

/** `/healthz` checks nothing. `/readyz` runs all checks. Warnings are shown, but do not affect readiness. */
export function healthRoutes(checks: Checks, warnings: Checks = {}) {
  type Results = Awaited<ReturnType<typeof findFailedChecks>>[];
  let running: Promise<Results> | undefined;
  /** Concurrent callers share one run. */
  const runChecks = () => {
    running ??= Promise.all([findFailedChecks(checks), findFailedChecks(warnings)]).finally(() => {
      running = undefined;
    });
    return running;
  };

  return new Hono()
    .get('/healthz', (c) => c.json({ status: 'ok' }, 200, { 'Cache-Control': 'no-store' }))
    .get('/readyz', async (c) => {
      const [failing = {}, warned = {}] = await runChecks();
      c.header('Cache-Control', 'no-store');
      const extras = Object.keys(warned).length > 0 ? { warnings: warned } : {};
      if (Object.keys(failing).length === 0) return c.json({ status: 'ready', ...extras });
      const error = `not ready: ${Object.values(failing).join('; ')}`;
      return c.json({ status: 'not ready', error, failing, red: failing, ...extras }, 503);
    });
}

export function databaseChecks(db: Db): Checks {
  const migrations = readMigrations();
  return {
    database: () => ignoreOutage(() => ping(db), 'cannot be reached'),
    schema: () =>
      ignoreOutage(async () => {
        const { missing, unknown } = await schemaState(db, migrations);
        if (missing.length > 0) return `lacks ${missing.join(', ')}`;
        return unknown.length > 0 ? `is newer: it has ${unknown.join(', ')}` : undefined;
      }, undefined),
  };
}

/** The pooler may be down while the direct connection works. */
const poolerCheck = (pool: Db) => () =>
  ignoreOutage(() => ping(pool), 'DATABASE_URL cannot be reached');

/** During an outage only the database check fails, and the other checks pass. */
async function ignoreOutage(ask: () => Promise<string | undefined>, away: string | undefined) {
  try {
    return await ask();
  } catch (error) {
    if (isDatabaseAway(error)) return away;
    throw error;
  }
}

const healthcheckTimeoutMs = 3000;
const maxBody = 4096;

export async function findService(config: Config, { say }: Pick<CommandTools, 'say'>) {
  const { host, port } = config;
  if (port !== 0) return localAddress(host, port);
  // With PORT=0 only the running service knows its port. The service record has it unless ASKBACK_PUBLIC_URL is set.
  if (!config.publicUrl) {
    const atOnce = { ...config, databaseWaitSeconds: 0 };
    const { db, close } = await openDatabase(atOnce, { say, connections: 1 });
    const record = await readServiceRecord(db).finally(close);
    const url = record && new URL(record.public_url);
    if (url) return localAddress(url.hostname.replace(/^\[|\]$/g, ''), Number(url.port));
  }
  throw new Refusal(
    'unavailable',
    'with PORT=0 the address of the service is unknown: set PORT to a fixed one',
  );
}

/** Replaces a wildcard address, which can be listened on but not called. */
export const localAddress = (host: string, port: number) =>
  httpAddress({ '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host, port);

export async function fetchWarnings(address: string): Promise<{ proxy?: string }> {
  try {
    const signal = AbortSignal.timeout(healthcheckTimeoutMs);
    const response = await fetch(`${address}/readyz`, { signal, redirect: 'manual' });
    const { warnings } = (await response.json()) as { warnings?: { proxy?: string } };
    return warnings ?? {};
  } catch {
    return {};
  }
}

export async function fetchHealth(url: string) {
  try {
    const signal = AbortSignal.timeout(healthcheckTimeoutMs);
    const response = await fetch(url, { signal, redirect: 'manual' });
    const body = (await response.text()).slice(0, maxBody);
    return {
      status: response.status,
      sentence: `${url} responded with ${response.status}: ${body}`,
    };
  } catch (error) {
    const late = (error as Error).name === 'TimeoutError';
    const within = late ? ` within ${healthcheckTimeoutMs / 1000} seconds` : '';
    return { status: null, sentence: `${url} does not respond${within}` };
  }
}

export async function countUnreadableSecrets(sql: Sql, secrets: Secrets): Promise<number> {
  const samples = await listSealedSamples(sql, secrets.keyId.length);
  let unreadable = 0;
  for (const { org_id: owner, id, secret, webhooks } of samples) {
    try {
      secrets.open({ owner, id }, secret);
    } catch {
      unreadable += webhooks;
    }
  }
  return unreadable;
}

export function wrongKeySentence(webhooks: number): string | undefined {
  if (webhooks === 0) return undefined;
  const which =
    webhooks === 1 ? 'the secret of 1 webhook was' : `the secrets of ${webhooks} webhooks were`;
  return `ASKBACK_SECRET_KEY is not the key that ${which} encrypted with: their deliveries fail. Set that key again (as ASKBACK_PREVIOUS_SECRET_KEY if you changed it on purpose), or rotate the secrets`;
}
