import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import program from '../package.json' with { type: 'json' };
import { createApp } from './app.ts';
import type { CommandTools } from './command-tools.ts';
import { keepPublicDemo } from './demo/public.tsx';
import { Refusal } from './errors.ts';
import { importPath } from './importers/screens.tsx';
import { withinMs } from './lib/async/deadline.ts';
import { type Db, serviceLimits } from './lib/db/db.ts';
import { createPoolSlots, shareFairly } from './lib/db/fair-pool.ts';
import { migrate } from './lib/db/migrate.ts';
import { warnOfPatchLevel } from './lib/db/patch-level.ts';
import { followReplica } from './lib/db/replica.ts';
import { requestsLimitMs } from './lib/http/http.ts';
import { httpAddress, isLoopbackHost, isWildcardHost } from './lib/http/http-address.ts';
import { listen } from './lib/http/listen.ts';
import { createLog, type Log } from './lib/log/log.ts';
import { createLifecycle, type Lifecycle, restrictToNetwork } from './lib/process/lifecycle.ts';
import { reachServiceManager } from './lib/process/service-manager.ts';
import { prepareQueue } from './lib/queue/enqueue.ts';
import { startTelemetry } from './lib/tracing/telemetry.ts';
import { mailboxUrl } from './mailbox/pages.tsx';
import { createWelcomeLink } from './members/welcome.ts';
import {
  listenForMetrics,
  serveMetrics,
  startCounters,
  writeLines,
} from './observations/metrics.ts';
import { databaseLost, openDatabase, writeServiceRecord } from './open-database.ts';
import {
  explainHostError,
  findListenAddresses,
  type ListenAddresses,
  watchProxies,
} from './operations/doctor.ts';
import { warnOfReplica } from './operations/findings.ts';
import { startReadiness } from './operations/health.ts';
import { createJobsApp } from './operations/home-routes.ts';
import { watchRequests } from './operations/operator/requests.ts';
import { type Config, ConfigError, Settings, unknownSettings, validateRole } from './settings.ts';
import type { ProcessRole } from './settings-validators.ts';
import { showStarting } from './web/layout.tsx';
import { startWork } from './work.ts';

const stopLimitMs = 29_000;
/** When the database is lost, nothing can be finished or recorded, so the process stops sooner. */
const lostLimitMs = 2000;
const mailboxSecretBytes = 24;

export async function serve(
  tools: CommandTools,
  options: { role?: ProcessRole | undefined; isPublicDemo?: boolean },
  ready: (serving: { url: string; welcomeUrl: string | undefined }) => void,
): Promise<void> {
  const config = withRole(tools.config(), options.role);
  const where = findListenAddresses(config);
  const log = createLog({ level: config.logLevel });
  const stopSignal = tools.stopSignal();
  const manager = await reachServiceManager(config.manager, log);
  const parts = createLifecycle(log);
  const say = (sentence: string) => {
    manager.status(sentence);
    tools.say(sentence);
  };
  let isLost = false;
  const { environment } = tools;
  for (const warning of unknownSettings(Object.keys(environment), Object.keys(Settings.entries))) {
    tools.say(`warning: ${warning}`);
  }
  try {
    const started = start({
      config,
      where,
      log,
      parts,
      tools: { say, environment },
      isPublicDemo: options.isPublicDemo ?? false,
    });
    const running = started.then(({ address, welcomeUrl, lost }) => {
      manager.ready(`serving on ${address}`);
      ready({ url: address, welcomeUrl });
      return Promise.race([stopSignal, lost]);
    });
    const signal = await Promise.race([stopSignal, running]);
    const stopping = `stopping on ${signal}: finishing requests and jobs in flight`;
    manager.stopping(stopping);
    tools.say(stopping);
  } catch (error) {
    isLost = error instanceof Refusal && error.code === databaseLost;
    if (isLost) log.fatal((error as Refusal).message);
    throw error;
  } finally {
    const stopping = parts.stop();
    await (isLost ? withinMs(stopping, lostLimitMs, () => {}) : stopInTime(stopping, log));
  }
}

/** `--role` overrides the environment and needs the same settings. */
function withRole(config: Config, role = config.role ?? undefined): Config {
  const { settings } = config;
  const complaints = validateRole(role, (name) => Object(settings)[name] !== undefined);
  if (complaints.length > 0) throw new ConfigError(complaints);
  return { ...config, role: role ?? null };
}

/** A replica that does not follow within this time may have a wrong address. */
const replicaWarningMs = 2000;

type Start = {
  config: Config;
  where: ListenAddresses;
  log: Log;
  parts: Lifecycle;
  tools: Pick<CommandTools, 'say' | 'environment'>;
  isPublicDemo: boolean;
};

/** Starts the parts. They stop in reverse order, so that new work stops before the parts that it needs. */
async function start({
  config,
  where,
  log,
  parts,
  tools: { say, environment },
  isPublicDemo,
}: Start) {
  const { role, trustedProxies } = config;
  await parts.start('lines', () => writeLines(log));
  await parts.start('telemetry', () =>
    startTelemetry({ settings: config.telemetry, environment, program, log }),
  );
  const counting = await parts.start('counting', startCounters);
  const listener = await parts.start('port', () =>
    listen(where.requests, { showStarting, trustedProxies, uploads: importPath }).catch(
      explainHostError,
    ),
  );
  const metricsListener = await listenForMetrics(where.metrics, { parts, say });
  const database = await parts.start('database', () =>
    openDatabase(config, { say, connections: config.databaseConnections, serving: true }),
  );
  const { db, sessions, lost } = database;
  await parts.start('schema', async () => {
    await prepareQueue(sessions.db, sessions);
    return await migrate(sessions.db);
  });
  const outdated = await warnOfPatchLevel(sessions.db);
  if (outdated) log.warn(outdated);
  const address = httpAddress(listener.host, listener.port);
  const publicUrl = config.publicUrl ?? address;
  // Behind a proxy every visitor looks local.
  const isLocal = isLoopbackHost(new URL(publicUrl).hostname);
  const mailboxSecret = isLocal ? null : randomBytes(mailboxSecretBytes).toString('base64url');
  if (!config.publicUrl && isWildcardHost(listener.host)) {
    say(
      `warning: links in emails begin with ${publicUrl}, which other machines cannot open: set ASKBACK_PUBLIC_URL`,
    );
  }
  await writeServiceRecord(db, publicUrl);
  const work = await startWork({
    config,
    log,
    parts,
    database,
    publicUrl,
    say,
    isLocal: !config.publicUrl && isLoopbackHost(listener.host),
  });
  const { jobs, secrets, mailProblem } = work;
  if (isPublicDemo) {
    await parts.start('public demo', () =>
      keepPublicDemo({ db, secrets }, (err) => log.error({ err }, 'cannot refill the demo')),
    );
  }

  const proxies = watchProxies(say);
  const readiness = await startReadiness({ parts, jobs, database, secrets, role, mailProblem });
  const { checks } = readiness;
  const replica = await startReplica(config, { parts, primary: sessions.db, say });
  const metrics = await serveMetrics(
    { config, log, counting, listener: metricsListener, trustsLocal: isLocal },
    { ...database, checks, replica, jobs, mailProblem },
  );
  const warnings = {
    ...readiness.warnings,
    proxy: proxies.check,
    ...(replica && { replica: () => warnOfReplica(replica.problem()) }),
  };
  const requests = await parts.start('recent requests', () => watchRequests());
  const app =
    role === 'jobs'
      ? createJobsApp({ log, checks, warnings, metrics })
      : createApp({
          log,
          settings: config,
          checks,
          publicUrl,
          metrics,
          ...work,
          db: database.requestDb,
          replica,
          warnings,
          requests,
          mailboxSecret,
          isPublicDemo,
          onUntrustedProxy: proxies.saw,
        });
  await parts.start(
    'requests',
    () => listener.open(app.fetch),
    // Requests in flight have already used the drain time.
    () => listener.drain(requestsLimitMs - config.drainSeconds * 1000),
  );
  let isLost = false;
  lost.catch(() => {
    isLost = true;
  });
  await parts.start(
    'readiness',
    () => {},
    // Load balancers must see that the process is not ready before the listeners close.
    async () => {
      readiness.drain();
      // A process that has lost its database cannot serve further requests.
      const seconds = isLost ? 0 : config.drainSeconds;
      if (seconds > 0) await sleep(seconds * 1000);
    },
  );
  const hasPages = role !== 'jobs';
  if (work.mailbox && hasPages) {
    say(
      `no SMTP server is configured: emails stay on this server, read them at ${mailboxUrl(address, mailboxSecret)}`,
    );
  }
  const welcomeUrl = hasPages ? await createWelcomeLink(db, publicUrl) : undefined;
  restrictToNetwork();
  return { address, welcomeUrl, lost };
}

async function startReplica(
  config: Config,
  { parts, primary, say }: { parts: Lifecycle; primary: Db; say: (sentence: string) => void },
) {
  const { readDatabaseUrl: url, databaseConnections: connections } = config;
  if (!url || config.role === 'jobs') return undefined;
  const slots = createPoolSlots(connections);
  const replica = await parts.start('replica', () =>
    followReplica({
      url,
      primary,
      connections,
      maxLagSeconds: config.readMaxLagSeconds,
      limits: serviceLimits,
      share: (db) => shareFairly(db, slots),
      program: 'askback reads',
    }),
  );
  setTimeout(() => {
    const warning = warnOfReplica(replica.problem());
    if (warning) say(`warning: ${warning}`);
  }, replicaWarningMs).unref();
  return replica;
}

/** Exits with a message before a service manager kills the process silently. */
async function stopInTime(stopping: Promise<void>, log: Log) {
  await withinMs(stopping, stopLimitMs, () => {
    log.fatal(`not everything stopped within ${stopLimitMs / 1000} seconds`);
    process.exit(1);
  });
}
