import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandTools } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { createSecrets, readSecretKey } from '../lib/crypto/secrets.ts';
import { explain } from '../lib/db/await-database.ts';
import { type Db, serviceLimits } from '../lib/db/db.ts';
import { schemaState } from '../lib/db/migrate.ts';
import { followReplica } from '../lib/db/replica.ts';
import { httpAddress, isLoopbackHost } from '../lib/http/http-address.ts';
import { type ListenAddress, sortPassedSockets } from '../lib/http/listen.ts';
import type { Check } from '../lib/process/lifecycle.ts';
import { openDatabase, publicUrlOf } from '../open-database.ts';
import { countHarmfulFunctions } from '../reporters/reporters.ts';
import { type Config, ConfigError } from '../settings.ts';
import type { Resolver } from './doctor-dns.ts';
import { examineMail } from './doctor-mail.ts';
import * as rules from './findings.ts';
import { type Finding, finding } from './findings.ts';
import { askWarnings, countUnreadableSecrets, localAddress, wrongKeySentence } from './health.ts';
import { findServerFacts, listSenders } from './queries.ts';

export async function examine(
  config: Config,
  { say, dns }: Pick<CommandTools, 'say'> & { dns: Resolver },
  asked: { from: readonly string[]; sendsFrom: readonly string[] },
) {
  const [{ findings, senders, publicUrl, unreadable }, proxies] = await Promise.all([
    examineDatabase(config, say),
    examineProxies(config),
  ]);
  findings.push(examineSecret(config, unreadable), examinePublicUrl(config, publicUrl));
  findings.push(...proxies);
  if (!config.databaseUrl) findings.push(examineDisk(config.dataDir));
  const mail = await examineMail(
    { dns, settings: config },
    { senders: [...asked.from, ...senders], sendsFrom: asked.sendsFrom, publicUrl },
  );
  return [...findings, ...mail];
}

/** What the running service has seen, if it runs on this machine. */
async function examineProxies({ host, port }: Config): Promise<Finding[]> {
  const { proxy } = port === 0 ? {} : await askWarnings(localAddress(host, port));
  return proxy ? [finding('proxy', 'warn', proxy)] : [];
}

/** Without a public URL the service knows its address; settings of a command may be those of another shell. */
function examinePublicUrl({ host, port, ...config }: Config, recorded: string | null): Finding {
  const publicUrl = port === 0 ? recorded : config.publicUrl;
  const links = publicUrl ?? recorded ?? httpAddress(host, port);
  const isLocal = isLoopbackHost(new URL(links).hostname);
  return rules.judgePublicUrl(publicUrl, { host, port, links, isLocal });
}

/** The first command of every runbook answers soon, also while the database is away. */
export const impatient = (config: Config): Config => ({ ...config, databaseWaitSeconds: 1 });

const unknown = (config: Config) => ({
  senders: [] as string[],
  publicUrl: config.publicUrl,
  unreadable: undefined,
});

async function examineDatabase(config: Config, say: CommandTools['say']) {
  const setting = config.sessionDatabaseUrl ? 'ASKBACK_SESSION_DATABASE_URL' : 'DATABASE_URL';
  try {
    const { db, close } = await openDatabase(impatient(config), { say, connections: 2 });
    try {
      const before = new Date();
      const server = await findServerFacts(db);
      const after = new Date();
      const schema = await schemaState(db);
      const findings: Finding[] = [
        rules.judgeServer(server, setting),
        rules.judgeVersion(server),
        rules.judgeExtensions(server),
        rules.judgeSchema(schema),
        rules.judgeClock({ before, database: server.now, after }),
        ...(await examineApart(config, say)),
        ...(await examineReplica(config, db)),
      ];
      if (schema.missing.length > 0) return { findings, ...unknown(config) };
      findings.push(...rules.judgeReporters(await countHarmfulFunctions(db)));
      return {
        findings,
        senders: config.smtpUrl ? await listSenders(db, null) : [],
        publicUrl: await publicUrlOf(db, config),
        unreadable: await unreadableSecrets(db, config),
      };
    } finally {
      await close();
    }
  } catch (error) {
    const findings: Finding[] = [finding('database', 'fail', explain(error))];
    return { findings, ...unknown(config) };
  }
}

/** Takes the way of the service's requests, which a command does not. */
async function examineApart(config: Config, say: CommandTools['say']): Promise<Finding[]> {
  if (!config.sessionDatabaseUrl) return [];
  try {
    const { close } = await openDatabase(impatient(config), { say, connections: 1, serving: true });
    await close();
    const message = 'DATABASE_URL and ASKBACK_SESSION_DATABASE_URL lead to the same database';
    return [finding('pooler', 'ok', message)];
  } catch (error) {
    return [finding('pooler', 'fail', explain(error))];
  }
}

const replicaPatienceMs = 2000;
const lookEveryMs = 50;

/** The service reads from the replica that is configured once it follows. */
async function examineReplica(
  { readDatabaseUrl: url, readMaxLagSeconds: maxLagSeconds }: Config,
  primary: Db,
): Promise<Finding[]> {
  if (!url) return [];
  const options = { connections: 1, maxLagSeconds, limits: serviceLimits, program: 'askback' };
  try {
    const replica = await followReplica({ ...options, url, primary });
    const late = performance.now() + replicaPatienceMs;
    while (!replica.isUsable() && performance.now() < late) await sleep(lookEveryMs);
    const warning = rules.warnOfReplica(replica.problem());
    await replica.stop();
    return [
      warning
        ? finding('replica', 'warn', warning)
        : finding('replica', 'ok', 'ASKBACK_READ_DATABASE_URL follows the primary'),
    ];
  } catch (error) {
    return [finding('replica', 'fail', explain(error))];
  }
}

/** Why stored secrets cannot be opened with the key of this environment, if there is one. */
async function unreadableSecrets(db: Db, config: Config): Promise<string | undefined> {
  const key = config.secretKey ?? readSecretKey(config.dataDir);
  if (!key) return undefined;
  const previous = config.previousSecretKey;
  const secrets = createSecrets(previous ? [key, previous] : [key]);
  return wrongKeySentence(await countUnreadableSecrets(db, secrets));
}

function examineSecret(config: Config, unreadable: string | undefined): Finding {
  if (unreadable) return finding('secret key', 'fail', unreadable);
  if (config.secretKey) return finding('secret key', 'ok', 'given as ASKBACK_SECRET_KEY');
  try {
    const message = readSecretKey(config.dataDir)
      ? 'kept in the data directory'
      : 'will be generated into the data directory by the first `askback serve`';
    return finding('secret key', 'ok', message);
  } catch (error) {
    return finding('secret key', 'fail', explain(error));
  }
}

/** A data directory that does not exist yet will be made in the nearest folder that does. */
function examineDisk(dataDir: string): Finding {
  try {
    const path = nearestExisting(resolve(dataDir));
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    return rules.judgeDisk({ path, freeBytes: bavail * bsize });
  } catch (error) {
    return finding('disk', 'fail', explain(error));
  }
}

const advice = 'name it in ASKBACK_TRUSTED_PROXIES, or all its clients share one limit';

export function watchProxies(say: (sentence: string) => void): {
  saw: (peer: string) => void;
  check: Check;
} {
  let first: string | undefined;
  return {
    saw(peer) {
      if (first !== undefined) return;
      first = peer;
      say(`requests come through a proxy at ${peer}, which is not trusted: ${advice}`);
    },
    check: () =>
      first === undefined
        ? undefined
        : `requests come through a proxy that is not trusted: ${advice}`,
  };
}

export type ListenAddresses = { requests: ListenAddress; metrics: ListenAddress | null };

/** The sockets that a service manager passed, or else the addresses of the settings. */
export function whereToListen({ host, port, metrics, sockets }: Config): ListenAddresses {
  const passed = sortPassedSockets(sockets, process.pid);
  if (typeof passed === 'string') throw new ConfigError([passed]);
  const on = (descriptors: readonly number[]) => (descriptors.length > 0 ? { descriptors } : null);
  return {
    requests: on(passed.requests) ?? { host, port },
    metrics: on(passed.metrics) ?? metrics.listen,
  };
}

/** A name that does not resolve looks like a database that is away, unless it is said to be HOST. */
export function nameHost(error: NodeJS.ErrnoException): never {
  if (error.syscall !== 'getaddrinfo') throw error;
  throw new Refusal(
    'unavailable',
    `HOST: no address of this machine has that name (${error.message})`,
  );
}

/** Why a folder or a file that a setting names cannot be used, by the name of the setting. Makes nothing. */
export function complaintsOfPlaces({ databaseUrl, dataDir, erasuresFile }: Config): string[] {
  const complaints: string[] = [];
  const complain = (name: string, sentence: string) => complaints.push(`${name}: ${sentence}`);
  if (!databaseUrl) {
    const path = resolve(dataDir);
    const present = nearestExisting(path);
    if (!statSync(present).isDirectory()) {
      complain('ASKBACK_DATA_DIR', `the data folder ${path} cannot be made: ${present} is a file`);
    } else if (!mayUse(present, constants.W_OK | constants.X_OK)) {
      complain('ASKBACK_DATA_DIR', `the data folder ${path} ${notWritable}`);
    }
  }
  if (erasuresFile) {
    const path = resolve(erasuresFile);
    const folder = dirname(path);
    const present = statSync(path, { throwIfNoEntry: false });
    if (present?.isDirectory()) complain('ASKBACK_ERASURES_FILE', `${path} is a folder`);
    else if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      complain('ASKBACK_ERASURES_FILE', `there is no folder ${folder}`);
    } else if (!mayUse(present ? path : folder, constants.W_OK)) {
      complain('ASKBACK_ERASURES_FILE', `${path} ${notWritable}`);
    }
  }
  return complaints;
}

const notWritable = 'may not be written by the account this program runs as';

function mayUse(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function nearestExisting(path: string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere || path === dirname(path) ? path : nearestExisting(dirname(path));
}
