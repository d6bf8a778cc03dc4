import { setTimeout as sleep } from 'node:timers/promises';
import program from '../package.json' with { type: 'json' };
import { createApp } from './app.ts';
import type { CommandTools } from './command-tools.ts';
import { deadline } from './lib/async/deadline.ts';
import { migrate } from './lib/db/migrate.ts';
import { requestsLimitMs } from './lib/http/drain.ts';
import { httpAddress } from './lib/http/http-address.ts';
import { listen, type Where } from './lib/http/listen.ts';
import { sortPassedSockets } from './lib/http/passed-sockets.ts';
import { createLog, type Log } from './lib/log/log.ts';
import { createLifecycle, type Lifecycle } from './lib/process/lifecycle.ts';
import { keepOnlyNetwork } from './lib/process/permission.ts';
import { reachServiceManager } from './lib/process/service-manager.ts';
import { startTelemetry } from './lib/tracing/telemetry.ts';
import { writeLines } from './observations/log-lines.ts';
import { startCounting } from './observations/metrics.ts';
import { showMetrics, takeMetricsAddress } from './observations/serve-metrics.ts';
import { openDatabase } from './open-database.ts';
import { startReadiness } from './operations/readiness.ts';
import { writeServiceRecord } from './service-record.ts';
import { type Config, ConfigError } from './settings/config.ts';
import { Settings } from './settings/settings.ts';
import { unknownSettings } from './settings/unknown-settings.ts';
import { startWork } from './work.ts';

const connections = 20;
const stopLimitMs = 29_000;

/** Runs the service until the process is asked to stop. `ready` is told the address it listens on. */
export async function serve(tools: CommandTools, ready: (url: string) => void): Promise<void> {
  const config = tools.config();
  const where = whereToListen(config);
  const log = createLog({ level: config.logLevel });
  const asked = tools.stopSignal();
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
    const running = started.then(({ address, lost }) => {
      manager.ready(`serving on ${address}`);
      ready(address);
      return Promise.race([asked, lost]);
    });
    const signal = await Promise.race([asked, running]);
    const stopping = `stopping on ${signal}: requests and jobs in hand are finished first`;
    manager.stopping(stopping);
    tools.say(stopping);
  } finally {
    await stopInTime(parts.stop(), log);
  }
}

type Addresses = { requests: Where; metrics: Where | null };

/** On sockets that a service manager keeps open for us, or else where the settings say. */
function whereToListen({ host, port, metrics, sockets }: Config): Addresses {
  const passed = sortPassedSockets(sockets, process.pid);
  if (typeof passed === 'string') throw new ConfigError([passed]);
  const on = (descriptors: readonly number[]) => (descriptors.length > 0 ? { descriptors } : null);
  return {
    requests: on(passed.requests) ?? { host, port },
    metrics: on(passed.metrics) ?? metrics.listen,
  };
}

type Start = {
  config: Config;
  where: Addresses;
  log: Log;
  parts: Lifecycle;
  tools: Pick<CommandTools, 'say' | 'environment'>;
};

/** One line a part. They stop in the reverse of this order: what brings work first, what it needs last. */
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
  const door = await parts.start(
    'port',
    () => listen(where.requests),
    (it) => it.close(),
  );
  const metricsDoor = await takeMetricsAddress(where.metrics, { parts, say });
  const database = await parts.start(
    'database',
    () => openDatabase(config, { say, connections, serving: true }),
    (it) => it.close(),
  );
  const { db, lost } = database;
  await parts.start('schema', () => migrate(db));
  const address = httpAddress(door.host, door.port);
  const publicUrl = config.publicUrl ?? address;
  await writeServiceRecord(db, publicUrl);
  const work = await startWork({ config, log, parts, database, publicUrl });

  let isLost = false;
  lost.catch(() => {
    isLost = true;
  });
  const runners = work.jobs.state;
  const readiness = await startReadiness({
    ...{ parts, runners, databaseUrl: database.url, secrets: work.secrets },
  });
  const { checks, warnings } = readiness;
  const metrics = await showMetrics(
    { config, parts, log, counting, door: metricsDoor },
    { ...database, checks, runners },
  );
  const app = createApp({
    ...{ db, log, settings: config, checks, warnings, publicUrl, metrics, ...work },
  });
  await parts.start(
    'requests',
    () => door.open(app.fetch),
    // A request that was in hand at the signal has had the time before this as well.
    () => door.drain(requestsLimitMs - config.drainSeconds * 1000),
  );
  await parts.start(
    'readiness',
    () => {},
    async () => {
      readiness.drain();
      // Without its database it cannot serve the requests that would still come.
      const seconds = isLost ? 0 : config.drainSeconds;
      if (seconds > 0) await sleep(seconds * 1000);
    },
  );
  if (work.mailbox) say(whereMailsLand(address));
  keepOnlyNetwork();
  return { address, lost };
}

const whereMailsLand = (address: string) =>
  `no SMTP server is configured: mails stay on this machine, to be read at ${address}/mailbox`;

/** A service manager would kill the process silently; it is better to exit with a message before that. */
async function stopInTime(stopping: Promise<void>, log: Log) {
  const limit = deadline(stopLimitMs, () => {
    log.fatal(`not everything stopped within ${stopLimitMs / 1000} seconds`);
    process.exit(1);
  });
  await stopping;
  limit.clear();
}
