import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandTools } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { createSecrets, readSecretKey } from '../lib/crypto/secrets.ts';
import { explain } from '../lib/db/await-database.ts';
import { connect, type Db, mustChoose, serviceLimits } from '../lib/db/db.ts';
import { oldestPostgres, schemaState } from '../lib/db/migrate.ts';
import { followReplica } from '../lib/db/replica.ts';
import { reachServers } from '../lib/db/servers.ts';
import { httpAddress, isLoopbackHost } from '../lib/http/http-address.ts';
import { type ListenAddress, sortPassedSockets } from '../lib/http/listen.ts';
import type { Check } from '../lib/process/lifecycle.ts';
import { awaitApart, openDatabase, publicUrlOf, type SessionAddress } from '../open-database.ts';
import { type Config, ConfigError } from '../settings.ts';
import type { Resolver } from './doctor-dns.ts';
import { examineMail } from './doctor-mail.ts';
import { askWarnings, countUnreadableSecrets, localAddress, wrongKeySentence } from './health.ts';
import { findServerFacts, listSenders } from './queries.ts';
import * as rules from './rules.ts';
import { type Finding, finding } from './rules.ts';

type DoctorQuestions = {
  from: readonly string[];
  sendsFrom: readonly string[];
};

type Examining = Pick<CommandTools, 'say'> & { dns: Resolver };

export async function examine(config: Config, { say, dns }: Examining, asked: DoctorQuestions) {
  const { findings, senders, publicUrl, unreadable } = await examineDatabase(config, say);
  findings.push(
    rules.judgeSecret({ ...findSecret(config), unreadable }),
    rules.judgePublicUrl(whereLinksLead(config, publicUrl)),
  );
  findings.push(...(await examineProxies(config)));
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
function whereLinksLead({ host, port, ...config }: Config, known: string | null) {
  const publicUrl = port === 0 ? known : config.publicUrl;
  const links = publicUrl ?? known ?? httpAddress(host, port);
  return { publicUrl, host, port, links, isLocal: isLoopbackHost(new URL(links).hostname) };
}

const unknown = (config: Config) => ({
  senders: [] as string[],
  publicUrl: config.publicUrl,
  unreadable: undefined,
});

async function examineDatabase(config: Config, say: CommandTools['say']) {
  try {
    const { db, sessions, close } = await openDatabase(config, { say, connections: 2 });
    try {
      const found = await lookInto(db, config);
      found.findings.push(...(await examineApart(config, { sessions, say })));
      found.findings.push(...(await examineReplica(config, db)));
      return found;
    } finally {
      await close();
    }
  } catch (error) {
    const findings: Finding[] = [finding('database', 'fail', explain(error))];
    return { findings, ...unknown(config) };
  }
}

/** The way that the service's requests take, which a command does not. */
async function examineApart(
  { databaseUrl, sessionDatabaseUrl, databaseWaitSeconds, preparedStatements }: Config,
  { sessions, say }: { sessions: SessionAddress; say: CommandTools['say'] },
): Promise<Finding[]> {
  if (!databaseUrl || !sessionDatabaseUrl) return [];
  const servers = mustChoose(databaseUrl) ? reachServers(databaseUrl) : undefined;
  const socket = servers && { socket: servers.socket };
  const db = connect(databaseUrl, { connections: 1, prepare: preparedStatements, ...socket });
  try {
    await awaitApart(db, { sessions, patience: { seconds: databaseWaitSeconds, say } });
    const message = 'DATABASE_URL and ASKBACK_SESSION_DATABASE_URL lead to the same database';
    return [finding('pooler', 'ok', message)];
  } catch (error) {
    return [finding('pooler', 'fail', explain(error))];
  } finally {
    await db.end({ timeout: 1 });
    await servers?.stop();
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
    const found = rules.judgeReplica(replica.problem());
    await replica.stop();
    return [found];
  } catch (error) {
    return [finding('replica', 'fail', explain(error))];
  }
}

async function lookInto(db: Db, config: Config) {
  const setting = config.sessionDatabaseUrl ? 'ASKBACK_SESSION_DATABASE_URL' : 'DATABASE_URL';
  const before = new Date();
  const server = await findServerFacts(db);
  const after = new Date();
  const schema = await schemaState(db);
  const findings: Finding[] = [
    rules.judgeServer({ ...server, oldestMajor: oldestPostgres, setting }),
    rules.judgeExtensions(server),
    rules.judgeSchema(schema),
    rules.judgeClock({ before, database: server.now, after }),
  ];
  if (schema.missing.length > 0) return { findings, ...unknown(config) };
  const senders = config.smtpUrl ? await listSenders(db, null) : [];
  const unreadable = await unreadableSecrets(db, config);
  return { findings, senders, publicUrl: await publicUrlOf(db, config), unreadable };
}

/** Why stored secrets cannot be opened with the key of this environment, if there is one. */
async function unreadableSecrets(db: Db, config: Config): Promise<string | undefined> {
  const key = config.secretKey ?? readSecretKey(config.dataDir);
  if (!key) return undefined;
  const previous = config.previousSecretKey;
  const secrets = createSecrets(previous ? [key, previous] : [key]);
  return wrongKeySentence(await countUnreadableSecrets(db, secrets));
}

function findSecret(config: Config): rules.SecretState {
  if (config.secretKey) return { from: 'environment' };
  try {
    return { from: readSecretKey(config.dataDir) ? 'file' : 'to be generated' };
  } catch (error) {
    return { from: 'nowhere', why: explain(error) };
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

type Places = Pick<Config, 'databaseUrl' | 'dataDir' | 'erasuresFile'>;

/** Why a folder or a file that a setting names cannot be used, each by the name of its setting. Makes nothing. */
export function complaintsOfPlaces({ databaseUrl, dataDir, erasuresFile }: Places): string[] {
  const data = databaseUrl ? undefined : complaintOfFolder(resolve(dataDir));
  const erasures = erasuresFile ? complaintOfFile(resolve(erasuresFile)) : undefined;
  return [
    ...(data ? [`ASKBACK_DATA_DIR: ${data}`] : []),
    ...(erasures ? [`ASKBACK_ERASURES_FILE: ${erasures}`] : []),
  ];
}

/** A folder that is not there yet is made in the nearest one above it. */
function complaintOfFolder(path: string): string | undefined {
  const there = nearestExisting(path);
  if (!statSync(there).isDirectory())
    return `the data folder ${path} cannot be made: ${there} is a file`;
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return `the data folder ${path} may not be written by the account this program runs as`;
  }
}

function nearestExisting(path: string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere || path === dirname(path) ? path : nearestExisting(dirname(path));
}

/** The folder of a file is not made. */
function complaintOfFile(path: string): string | undefined {
  const folder = dirname(path);
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isDirectory()) return `${path} is a folder`;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return `there is no folder ${folder}`;
  try {
    accessSync(there ? path : folder, constants.W_OK);
    return undefined;
  } catch {
    return `${path} may not be written by the account this program runs as`;
  }
}
