import { resolve } from 'node:path';
import { cacheWithTtl } from '../../lib/async/cache-with-ttl.ts';
import { lazy } from '../../lib/async/memoize.ts';
import type { Db } from '../../lib/db/db.ts';
import { readMigrations, schemaState } from '../../lib/db/migrate.ts';
import { isLoopbackHost, isWildcardHost } from '../../lib/http/http-address.ts';
import { type Checks, findFailedChecks } from '../../lib/process/lifecycle.ts';
import { readDiskSpace } from '../../lib/worker/disk-space.ts';
import { countHarmfulFunctions } from '../../reporters/reporters.ts';
import type { Config } from '../../settings.ts';
import { examineServer } from '../doctor.ts';
import { examineSenders, type SenderTools } from '../doctor-mail.ts';
import { type Finding, finding, judgeDisk, judgePublicUrl, judgeReporters } from '../findings.ts';
import { examineUpdate } from '../update.ts';
import {
  countDeliveryOutcomes,
  countFailedJobs,
  countMailOutcomes,
  findDatabaseFacts,
  listBackups,
  listWaitingTasks,
  type Outcome,
  type WaitingTask,
} from './queries.ts';
import type { FailedRequest, RecentRequests } from './requests.ts';

/** `unknown`: this process cannot tell. */
export type StatusFinding = Omit<Finding, 'status'> & { status: Finding['status'] | 'unknown' };

export type StatusTools = SenderTools & {
  checks: Checks;
  warnings?: Checks;
  requests?: RecentRequests | undefined;
  settings: Partial<Pick<Config, 'databaseUrl' | 'dataDir' | 'updateUrl'>>;
};

const migrations = lazy(readMigrations);

/** Runs all checks that finish at once. They use no network except for the database. */
export async function examineStatus(tools: StatusTools) {
  const { db, requests } = tools;
  const [ofProcess, server, waiting, failedJobs, mails, deliveries, backups, database, space] =
    await Promise.all([
      examineProcess(tools),
      schemaState(db, migrations()).then((schema) =>
        examineServer(db, { setting: 'DATABASE_URL', schema }),
      ),
      listWaitingTasks(db),
      countFailedJobs(db),
      countMailOutcomes(db),
      countDeliveryOutcomes(db),
      listBackups(db),
      measureDatabase(db),
      examineSpace(tools.settings),
    ]);
  const now = new Date();
  const named = new Set(server.map(({ name }) => name));
  const findings: StatusFinding[] = [
    ...ofProcess.filter(({ name, status }) => status !== 'ok' || !named.has(name)),
    ...server,
    judgeLinks(tools.publicUrl),
    space.finding,
    judgeBackups(backups, now),
    judgeQueue(waiting, failedJobs),
    judgeMails(mails),
    judgeDeliveries(deliveries),
    judgeErrors(requests?.errors() ?? [], now),
  ];
  const [newestBackup = null] = backups;
  return {
    findings,
    waiting,
    failedJobs,
    mails,
    deliveries,
    database,
    disk: space.disk,
    backupAgeSeconds: newestBackup && (now.getTime() - newestBackup.getTime()) / 1000,
  };
}

async function measureDatabase(db: Db) {
  const startedAt = performance.now();
  await db`select 1`;
  const ms = performance.now() - startedAt;
  return { ...(await findDatabaseFacts(db)), ms };
}

/** The name and sentence of each `/readyz` check when it passes. */
const passing: Readonly<Record<string, readonly [name: string, sentence: string]>> = {
  database: ['database', 'answers'],
  schema: ['schema', 'is up to date'],
  pooler: ['pooler', 'answers'],
  runners: ['job runner', 'runs'],
  draining: ['process', 'serves requests'],
  secrets: ['secret key', 'opens the secrets of all webhooks'],
  mail: ['mail server', 'accepted the latest emails of this process'],
  jobs: ['jobs', 'a process with the role jobs is running'],
  proxy: ['proxy', 'no untrusted proxy has forwarded a request'],
  replica: ['replica', 'follows the primary'],
};

async function examineProcess({ checks, warnings = {} }: StatusTools): Promise<Finding[]> {
  const [failing, warned] = await Promise.all([
    findFailedChecks(checks),
    findFailedChecks(warnings),
  ]);
  // `examineServer` judges the version of Postgres.
  const { postgres: _, ...others } = warnings;
  return [...Object.keys(checks), ...Object.keys(others)].map((check) => {
    const [name, sentence] = passing[check] ?? [check, 'OK'];
    const problem = failing[check];
    if (problem !== undefined) return finding(name, 'fail', problem);
    return warned[check] === undefined
      ? finding(name, 'ok', sentence)
      : finding(name, 'warn', warned[check]);
  });
}

function judgeLinks(publicUrl: string): Finding {
  const { hostname: host, port } = new URL(publicUrl);
  return judgePublicUrl(isWildcardHost(host) ? null : publicUrl, {
    host,
    port: Number(port),
    links: publicUrl,
    isLocal: isLoopbackHost(host),
  });
}

async function examineSpace({ databaseUrl, dataDir }: StatusTools['settings']) {
  const unknown = (message: string) => {
    const finding: StatusFinding = { name: 'disk', status: 'unknown', message };
    return { finding, disk: null };
  };
  if (databaseUrl || !dataDir) {
    return unknown('the free space of the database server is not visible from here');
  }
  const path = resolve(dataDir);
  try {
    const disk = await readDiskSpace(path);
    return { finding: judgeDisk({ path, freeBytes: disk.freeBytes }), disk };
  } catch (error) {
    return unknown(`the free space of ${path} cannot be read: ${(error as Error).message}`);
  }
}

const mib = 1024 ** 2;

export const formatBytes = (bytes: number) =>
  bytes < 1024 * mib ? `${Math.ceil(bytes / mib)} MiB` : `${(bytes / 1024 / mib).toFixed(1)} GiB`;

const dayMs = 86_400_000;

/** The newest backup is late after twice the interval between the last two. A single backup is never late. */
export function judgeBackups([newest, previous]: readonly Date[], now: Date): StatusFinding {
  const name = 'backup';
  if (!newest) {
    const message =
      'no backup by `askback backup` is recorded (other backups, such as pg_dump, are not visible here)';
    return { name, status: 'unknown', message };
  }
  const ageMs = now.getTime() - newest.getTime();
  const message = `the newest by \`askback backup\` is ${formatSeconds(ageMs / 1000)} old`;
  const everyMs = previous && Math.max(newest.getTime() - previous.getTime(), dayMs);
  if (everyMs === undefined || ageMs <= 2 * everyMs) return finding(name, 'ok', message);
  return finding(
    name,
    'warn',
    `${message}, the one before it ${formatSeconds(everyMs / 1000)} earlier`,
  );
}

/** The same limits as in the alerts of ops/prometheus/rules.yml. */
const maxWaitSeconds = { job: 120, delivery: 600, analysis: 3600 };

export function judgeQueue(waiting: readonly WaitingTask[], failedJobs: number): Finding {
  const late = waiting.filter(({ task, oldest_seconds }) => oldest_seconds > maxWaitOf(task));
  const judge = (status: Finding['status'], message: string) => finding('queue', status, message);
  const [oldest] = late;
  if (oldest) {
    const isStuck = late.some(({ task }) => maxWaitOf(task) === maxWaitSeconds.job);
    const message = `${oldest.task} has waited ${formatSeconds(oldest.oldest_seconds)}. Is a worker running? See AskbackQueueStuck in ops/runbook.md`;
    return judge(isStuck ? 'fail' : 'warn', message);
  }
  if (failedJobs > 0) {
    const jobs = failedJobs === 1 ? '1 job has' : `${failedJobs} jobs have`;
    return judge('warn', `${jobs} failed permanently: see AskbackJobsFailing in ops/runbook.md`);
  }
  const sum = waiting.reduce((total, row) => total + row.waiting, 0);
  if (sum === 0) return judge('ok', 'no jobs waiting');
  const age = formatSeconds(Math.max(...waiting.map((row) => row.oldest_seconds)));
  return judge('ok', `${sum} waiting, the oldest for ${age}`);
}

function maxWaitOf(task: string): number {
  if (task.startsWith('summaries.')) return maxWaitSeconds.analysis;
  return task === 'webhooks.deliver' ? maxWaitSeconds.delivery : maxWaitSeconds.job;
}

export const countOf = (outcomes: readonly Outcome[], ...statuses: string[]) =>
  outcomes.reduce((sum, { status, count }) => sum + (statuses.includes(status) ? count : 0), 0);

export function judgeMails(outcomes: readonly Outcome[]): Finding {
  const sent = countOf(outcomes, 'sent');
  const failed = countOf(outcomes, 'failed', 'unknown');
  const summary = `${sent} survey emails sent and ${failed} failed in the last hour`;
  return isFailing(failed, sent)
    ? finding('emails', 'fail', `${summary}: see AskbackMailsFailing in ops/runbook.md`)
    : finding('emails', failed > 0 && sent === 0 ? 'warn' : 'ok', summary);
}

export function judgeDeliveries(outcomes: readonly Outcome[]): Finding {
  const delivered = countOf(outcomes, 'delivered');
  const failed = countOf(outcomes, 'failed');
  const summary = `${delivered} webhook deliveries made and ${failed} failed in the last hour`;
  return isFailing(failed, delivered)
    ? finding('webhooks', 'warn', `${summary}: see AskbackDeliveriesFailing in ops/runbook.md`)
    : finding('webhooks', failed > 0 && delivered === 0 ? 'warn' : 'ok', summary);
}

const minFailures = 10;
const maxFailedShare = 0.2;

const isFailing = (failed: number, succeeded: number) =>
  failed >= minFailures && failed > maxFailedShare * (failed + succeeded);

const hourMs = 3_600_000;

export function judgeErrors(errors: readonly FailedRequest[], now: Date): Finding {
  const recent = errors.filter(({ at }) => now.getTime() - at.getTime() < hourMs).length;
  if (recent === 0) return finding('requests', 'ok', 'none failed in the last hour');
  const requests = recent === 1 ? '1 request' : `${recent} requests`;
  return finding('requests', 'warn', `${requests} failed in the last hour, see Latest errors`);
}

export function formatSeconds(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800
    ? `${Math.round(seconds / 3600)} h`
    : `${Math.round(seconds / 86_400)} days`;
}

/** Limits DNS lookups, and the time that the page waits for them. */
const cacheOptions = { ttlMs: 15_000, timeoutMs: 20_000 };

/** Checks the mail server, DNS and reporters. These checks take seconds, so they only run when an operator asks. */
export function createSlowChecks(tools: StatusTools) {
  let latest: { at: Date; findings: readonly Finding[] } | undefined;

  async function examine() {
    const [update, reporters, mail] = await Promise.all([
      examineUpdate(tools.settings.updateUrl),
      countHarmfulFunctions(tools.db),
      examineSenders(tools, null),
    ]);
    latest = { at: new Date(), findings: [...update, ...judgeReporters(reporters), ...mail] };
    return latest;
  }

  return {
    /** Undefined if they take too long or fail. */
    run: cacheWithTtl(examine, cacheOptions),
    latest: () => latest,
  };
}
