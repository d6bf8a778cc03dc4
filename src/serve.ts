import { randomBytes } from 'node:crypto';
import program from '../package.json' with { type: 'json' };
import type { CommandTools } from './command-tools.ts';
import { deadline } from './lib/async/deadline.ts';
import { migrate } from './lib/db/migrate.ts';
import { httpAddress, isLoopbackHost, isWildcardHost } from './lib/http/http-address.ts';
import { listen } from './lib/http/listen.ts';
import type { Log } from './lib/log/log.ts';
import { createLifecycle, type Lifecycle } from './lib/process/lifecycle.ts';
import { keepOnlyNetwork } from './lib/process/permission.ts';
import { reachServiceManager } from './lib/process/service-manager.ts';
import { prepareQueue } from './lib/queue/enqueue.ts';
import { startTelemetry } from './lib/tracing/telemetry.ts';
import { serviceLog } from './log-fields.ts';
import { mailboxUrl } from './mailbox/access.ts';
import { makeWelcomeLink } from './members/welcome.ts';
import { writeLines } from './observations/log-lines.ts';
import { startCounting, takeMetricsAddress } from './observations/metrics.ts';
import { openDatabase } from './open-database.ts';
import { type ListenAddresses, nameHost, whereToListen } from './operations/listen-addresses.ts';
import { startRequests } from './serve-requests.ts';
import { writeServiceRecord } from './service-record.ts';
import { type Config, ConfigError, complaintsOfRole } from './settings/config.ts';
import { Settings } from './settings/settings.ts';
import { unknownSettings } from './settings/unknown-settings.ts';
import type { ProcessRole } from './settings/validators.ts';
import { showStarting } from './web/starting-page.ts';
import { startWork } from './work.ts';

const stopLimitMs = 29_000;
const mailboxSecretBytes = 24;

/** Where the service can be reached, and while there is no member, the link by which the first one comes in. */
export type Serving = { url: string; welcomeUrl: string | undefined };

/** Runs the service until the process is asked to stop. */
export async function serve(
  tools: CommandTools,
  asked: { role?: ProcessRole | undefined },
  ready: (serving: Serving) => void,
): Promise<void> {
  const config = withRole(tools.config(), asked.role);
  const where = whereToListen(config);
  const log = serviceLog({ level: config.logLevel });
  const stopSignal = tools.stopSignal();
  const manager = await reachServiceManager(config.manager, log);
  const parts = createLifecycle(log);
  const say = (sentence: string) => {
    manager.status(sentence);
    tools.say(sentence);
  };
  const { environment } = tools;
  for (const warning of unknownSettings(tools.variables(), Object.keys(Settings.entries))) {
    tools.say(`warning: ${warning}`);
  }
  try {
    const started = start({ config, where, log, parts, tools: { say, environment } });
    const running = started.then(({ address, welcomeUrl, lost }) => {
      manager.ready(`serving on ${address}`);
      ready({ url: address, welcomeUrl });
      return Promise.race([stopSignal, lost]);
    });
    const signal = await Promise.race([stopSignal, running]);
    const stopping = `stopping on ${signal}: requests and jobs in flight are finished first`;
    manager.stopping(stopping);
    tools.say(stopping);
  } finally {
    await stopInTime(parts.stop(), log);
  }
}

/** What `--role` says goes before the environment, and needs the same of it. */
function withRole(config: Config, role = config.role ?? undefined): Config {
  const { settings } = config;
  const complaints = complaintsOfRole(role, (name) => Object(settings)[name] !== undefined);
  if (complaints.length > 0) throw new ConfigError(complaints);
  return { ...config, role: role ?? null };
}

type Start = {
  config: Config;
  where: ListenAddresses;
  log: Log;
  parts: Lifecycle;
  tools: Pick<CommandTools, 'say' | 'environment'>;
};

/** One line for each part. They stop in the reverse of this order: first what brings work, last what it needs. */
async function start({ config, where, log, parts, tools: { say, environment } }: Start) {
  await parts.start(
    'lines',
    () => writeLines(log),
    (end) => end(),
  );
  await parts.start(
    'telemetry',
    () => startTelemetry({ settings: config.telemetry, environment, program, log }),
    (it) => it.shutdown(),
  );
  const counting = await parts.start('counting', startCounting, (it) => it.stop());
  const listener = await parts.start(
    'port',
    () => listen(where.requests, { showStarting }).catch(nameHost),
    (it) => it.close(),
  );
  const metricsListener = await takeMetricsAddress(where.metrics, { parts, say });
  const database = await parts.start(
    'database',
    () => openDatabase(config, { say, connections: config.databaseConnections, serving: true }),
    (it) => it.close(),
  );
  const { db, sessions, lost } = database;
  await parts.start('schema', async () => {
    await prepareQueue(sessions.db, sessions);
    return await migrate(sessions.db);
  });
  const address = httpAddress(listener.host, listener.port);
  const publicUrl = config.publicUrl ?? address;
  // A proxy may be in front of a service with a public address, and make every visitor look local.
  const isLocal = isLoopbackHost(new URL(publicUrl).hostname);
  const mailboxSecret = isLocal ? null : randomBytes(mailboxSecretBytes).toString('base64url');
  if (!config.publicUrl && isWildcardHost(listener.host)) say(wildcardWarning(publicUrl));
  await writeServiceRecord(db, publicUrl);
  const work = await startWork({ config, log, parts, database, publicUrl, say });

  let isLost = false;
  lost.catch(() => {
    isLost = true;
  });
  await startRequests({
    config,
    log,
    parts,
    counting,
    database,
    work,
    publicUrl,
    mailboxSecret,
    listener,
    metricsListener,
    say,
    isLost: () => isLost,
  });
  const hasPages = config.role !== 'jobs';
  if (work.mailbox && hasPages) say(whereMailsLand(mailboxUrl(address, mailboxSecret)));
  const welcomeUrl = hasPages ? await makeWelcomeLink(db, publicUrl) : undefined;
  keepOnlyNetwork();
  return { address, welcomeUrl, lost };
}

const wildcardWarning = (url: string) =>
  `warning: links in mails begin with ${url}, which other machines cannot open: set ASKBACK_PUBLIC_URL`;

const whereMailsLand = (url: string) =>
  `no SMTP server is configured: mails stay on this machine, to be read at ${url}`;

/** A service manager would kill the process silently; it is better to exit with a message before that. */
async function stopInTime(stopping: Promise<void>, log: Log) {
  const limit = deadline(stopLimitMs, () => {
    log.fatal(`not everything stopped within ${stopLimitMs / 1000} seconds`);
    process.exit(1);
  });
  await stopping;
  limit.clear();
}
