import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandTools } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { createSecrets, readSecretKey } from '../lib/crypto/secrets.ts';
import { explainError } from '../lib/db/await-database.ts';
import { type Db, serviceLimits } from '../lib/db/db.ts';
import { schemaState } from '../lib/db/migrate.ts';
import { followReplica } from '../lib/db/replica.ts';
import { httpAddress, isLoopbackHost } from '../lib/http/http-address.ts';
import type { ListenAddress } from '../lib/http/listen.ts';
import type { Check } from '../lib/process/lifecycle.ts';
import { openDatabase, publicUrlOf } from '../open-database.ts';
import { countHarmfulFunctions } from '../reporters/reporters.ts';
import { type Config, ConfigError } from '../settings.ts';
import type { Resolver } from './doctor-dns.ts';
import { examineMail } from './doctor-mail.ts';
import * as rules from './findings.ts';
import { type Finding, finding } from './findings.ts';
import { countUnreadableSecrets, fetchWarnings, localAddress, wrongKeySentence } from './health.ts';
import { findServerFacts, listSenders } from './queries.ts';
import { examineUpdate } from './update.ts';

export async function examine(
  config: Config,
  { say, dns }: Pick<CommandTools, 'say'> & { dns: Resolver },
  options: { from: readonly string[]; sendsFrom: readonly string[] },
) {
  const [{ findings, senders, publicUrl, unreadable }, proxies, update] = await Promise.all([
    examineDatabase(config, say),
    examineProxies(config),
    examineUpdate(config.updateUrl),
  ]);
  findings.push(examineSecret(config, unreadable), examinePublicUrl(config, publicUrl));
  findings.push(...proxies, ...update);
  if (!config.databaseUrl) findings.push(examineDisk(config.dataDir));
  const mail = await examineMail(
    { dns, settings: config },
    { senders: [...options.from, ...senders], sendsFrom: options.sendsFrom, publicUrl },
  );
  return [...findings, ...mail];
}

/** Reports untrusted proxies that a service on this machine has seen. */
async function examineProxies({ host, port }: Config): Promise<Finding[]> {
  const { proxy } = port === 0 ? {} : await fetchWarnings(localAddress(host, port));
  return proxy ? [finding('proxy', 'warn', proxy)] : [];
}

/** Falls back to the service's recorded address, because the settings of the command may differ from the service's. */
function examinePublicUrl({ host, port, ...config }: Config, recorded: string | null): Finding {
  const publicUrl = port === 0 ? recorded : config.publicUrl;
  const links = publicUrl ?? recorded ?? httpAddress(host, port);
  const isLocal = isLoopbackHost(new URL(links).hostname);
  return rules.judgePublicUrl(publicUrl, { host, port, links, isLocal });
}

/** The doctor must answer quickly, even while the database is down. */
export const withShortWait = (config: Config): Config => ({ ...config, databaseWaitSeconds: 1 });

const unknownFacts = (config: Config) => ({
  senders: [] as string[],
  publicUrl: config.publicUrl,
  unreadable: undefined,
});

async function examineDatabase(config: Config, say: CommandTools['say']) {
  const setting = config.sessionDatabaseUrl ? 'ASKBACK_SESSION_DATABASE_URL' : 'DATABASE_URL';
  try {
    const { db, close } = await openDatabase(withShortWait(config), { say, connections: 2 });
    try {
      const schema = await schemaState(db);
      const findings: Finding[] = [
        ...(await examineServer(db, { setting, schema })),
        ...(await examinePooler(config, say)),
        ...(await examineReplica(config, db)),
      ];
      if (schema.missing.length > 0) return { findings, ...unknownFacts(config) };
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
    const findings: Finding[] = [finding('database', 'fail', explainError(error))];
    return { findings, ...unknownFacts(config) };
  }
}

type ServerQuestions = {
  /** The setting with the address of the server. */
  setting: string;
  schema: Awaited<ReturnType<typeof schemaState>>;
};

export async function examineServer(db: Db, { setting, schema }: ServerQuestions) {
  const before = new Date();
  const server = await findServerFacts(db);
  const after = new Date();
  return [
    rules.judgeServer(server, setting),
    rules.judgeVersion(server),
    rules.judgeExtensions(server),
    rules.judgeSchema(schema),
    rules.judgeClock({ before, database: server.now, after }),
  ];
}

/** Connects through the pooler as the service does. */
async function examinePooler(config: Config, say: CommandTools['say']): Promise<Finding[]> {
  if (!config.sessionDatabaseUrl) return [];
  try {
    const { close } = await openDatabase(withShortWait(config), {
      say,
      connections: 1,
      serving: true,
    });
    await close();
    const message = 'DATABASE_URL and ASKBACK_SESSION_DATABASE_URL are the same database';
    return [finding('pooler', 'ok', message)];
  } catch (error) {
    return [finding('pooler', 'fail', explainError(error))];
  }
}

const replicaPatienceMs = 2000;
const lookEveryMs = 50;

/** Waits briefly for the replica to follow the primary. */
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
    return [finding('replica', 'fail', explainError(error))];
  }
}

/** Explains why the configured key cannot open stored secrets, if there is a key. */
async function unreadableSecrets(db: Db, config: Config): Promise<string | undefined> {
  const key = config.secretKey ?? readSecretKey(config.dataDir);
  if (!key) return undefined;
  const previous = config.previousSecretKey;
  const secrets = createSecrets(previous ? [key, previous] : [key]);
  return wrongKeySentence(await countUnreadableSecrets(db, secrets));
}

function examineSecret(config: Config, unreadable: string | undefined): Finding {
  if (unreadable) return finding('secret key', 'fail', unreadable);
  if (config.secretKey) return finding('secret key', 'ok', 'set as ASKBACK_SECRET_KEY');
  try {
    const message = readSecretKey(config.dataDir)
      ? 'stored in the data directory'
      : 'will be generated into the data directory by the first `askback serve`';
    return finding('secret key', 'ok', message);
  } catch (error) {
    return finding('secret key', 'fail', explainError(error));
  }
}

/** A missing data directory will be created in the nearest existing parent. */
export function examineDisk(dataDir: string): Finding {
  try {
    const path = nearestExistingPath(resolve(dataDir));
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    return rules.judgeDisk({ path, freeBytes: bavail * bsize });
  } catch (error) {
    return finding('disk', 'fail', explainError(error));
  }
}

const nearestExistingPath = (path: string): string =>
  existsSync(path) ? path : nearestExistingPath(dirname(path));

const advice = 'add it to ASKBACK_TRUSTED_PROXIES, or all its clients share one rate limit';

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

/** The first socket that a service manager passes. */
const firstDescriptor = 3;

/** Sockets from the service manager take precedence over HOST and PORT. */
export function findListenAddresses({ host, port, metrics, sockets }: Config): ListenAddresses {
  const { count, pid } = sockets;
  if (count > 0 && pid !== process.pid) {
    throw new ConfigError([
      `LISTEN_PID: the sockets are for the process ${pid} and this is ${process.pid}: start this program itself there, with \`exec\` if a shell starts it`,
    ]);
  }
  const descriptors = Array.from({ length: count }, (_, place) => firstDescriptor + place);
  return { requests: count > 0 ? { descriptors } : { host, port }, metrics: metrics.listen };
}

/** Names HOST as the cause, because an unresolvable name would look like an unreachable database. */
export function explainHostError(error: NodeJS.ErrnoException): never {
  if (error.syscall !== 'getaddrinfo') throw error;
  throw new Refusal(
    'unavailable',
    `HOST: no address of this machine has that name (${error.message})`,
  );
}
