import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from './app.ts';
import { type Db, serviceLimits } from './lib/db/db.ts';
import { createPoolSlots, shareFairly } from './lib/db/fair-pool.ts';
import { followReplica } from './lib/db/replica.ts';
import { requestsLimitMs } from './lib/http/drain.ts';
import type { Listener } from './lib/http/listen.ts';
import type { Log } from './lib/log/log.ts';
import type { Lifecycle } from './lib/process/lifecycle.ts';
import { type Counting, showMetrics } from './observations/metrics.ts';
import type { Database } from './open-database.ts';
import { createJobsApp } from './operations/jobs-app.ts';
import { type Readiness, startReadiness } from './operations/readiness.ts';
import { warnOfReplica } from './operations/rules.ts';
import { watchProxies } from './operations/untrusted-proxies.ts';
import type { Config } from './settings/config.ts';
import type { startWork } from './work.ts';

/** A replica that follows is seen to do so within this; the address of any other one may be wrong. */
const replicaPatienceMs = 2000;

type StartRequests = {
  config: Config;
  log: Log;
  parts: Lifecycle;
  counting: Counting;
  database: Database;
  work: Awaited<ReturnType<typeof startWork>>;
  publicUrl: string;
  mailboxSecret: string | null;
  listener: Listener;
  metricsListener: Listener | undefined;
  isLost: () => boolean;
  say: (sentence: string) => void;
};

/** Opens the listeners to requests, and on the way down says so to load balancers before closing them. */
export async function startRequests(tools: StartRequests) {
  const { config, log, parts, database, work, publicUrl } = tools;
  const proxies = watchProxies(tools.say);
  const readiness = await startReadiness({
    parts,
    jobs: work.jobs,
    database,
    secrets: work.secrets,
    role: config.role,
  });
  const { checks } = readiness;
  const trustsLocal = tools.mailboxSecret === null;
  const replica = await startReplica(tools);
  const metrics = await showMetrics(
    { config, parts, log, counting: tools.counting, listener: tools.metricsListener, trustsLocal },
    { ...database, checks, replica, jobs: work.jobs },
  );
  const warnings = {
    ...readiness.warnings,
    proxy: proxies.check,
    ...(replica && { replica: () => warnOfReplica(replica.problem()) }),
  };
  if (config.role === 'jobs') {
    const { fetch } = createJobsApp({ log, checks, warnings, metrics });
    return await openRequests(tools, readiness, fetch);
  }
  const app = createApp({
    log,
    settings: config,
    checks,
    publicUrl,
    metrics,
    ...work,
    db: database.requestDb,
    replica,
    warnings,
    mailboxSecret: tools.mailboxSecret,
    onUntrustedProxy: proxies.saw,
  });
  await openRequests(tools, readiness, app.fetch);
}

/** A process that runs jobs alone answers no reads. */
async function startReplica({ config, parts, database, say }: StartRequests) {
  const { readDatabaseUrl: url, role, databaseConnections: connections } = config;
  const processors = config.databaseProcessors;
  if (!url || role === 'jobs') return undefined;
  const share = (db: Db) => shareFairly(db, createPoolSlots({ connections, processors }));
  const maxLagSeconds = config.readMaxLagSeconds;
  const limits = serviceLimits;
  const options = { url, connections, maxLagSeconds, limits, share, program: 'askback reads' };
  const replica = await parts.start(
    'replica',
    () => followReplica({ ...options, primary: database.sessions.db }),
    (it) => it.stop(),
  );
  setTimeout(() => {
    const warning = warnOfReplica(replica.problem());
    if (warning) say(`warning: ${warning}`);
  }, replicaPatienceMs).unref();
  return replica;
}

async function openRequests(
  { config, parts, listener, isLost }: StartRequests,
  readiness: Readiness,
  fetch: Parameters<Listener['open']>[0],
) {
  await parts.start(
    'requests',
    () => listener.open(fetch),
    // A request that was in flight at the signal has had the time before this as well.
    () => listener.drain(requestsLimitMs - config.drainSeconds * 1000),
  );
  await parts.start(
    'readiness',
    () => {},
    async () => {
      readiness.drain();
      // Without its database it cannot serve the requests that would still come.
      const seconds = isLost() ? 0 : config.drainSeconds;
      if (seconds > 0) await sleep(seconds * 1000);
    },
  );
}
