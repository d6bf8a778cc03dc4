import { access, constants, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandTools } from '../command-tools.ts';
import { readSecretKey } from '../lib/crypto/secret-key.ts';
import { createSecrets } from '../lib/crypto/secrets.ts';
import { mustChoose } from '../lib/db/database-url.ts';
import { connect, type Db, serviceLimits } from '../lib/db/db.ts';
import { oldestPostgres, schemaState } from '../lib/db/migrate.ts';
import { followReplica } from '../lib/db/replica.ts';
import { reachServers } from '../lib/db/servers.ts';
import { explain } from '../lib/db/startup-errors.ts';
import { httpAddress, isLoopbackHost } from '../lib/http/http-address.ts';
import { openDatabase } from '../open-database.ts';
import { awaitApart, type SessionAddress } from '../open-sessions.ts';
import { publicUrlOf } from '../service-record.ts';
import type { Config } from '../settings/config.ts';
import { examineMail } from './examine-mail.ts';
import { type Finding, finding } from './finding.ts';
import { askWarnings, localAddress } from './healthcheck.ts';
import type { Resolver } from './mail-dns/resolver.ts';
import { findServerFacts, listSenders } from './queries.ts';
import * as rules from './rules.ts';
import { countUnreadableSecrets, wrongKeySentence } from './sealed-secrets.ts';

export type DoctorQuestions = {
  /** Senders to examine in addition to those of the surveys. */
  from: readonly string[];
  sendsFrom: readonly string[];
};

type Examining = Pick<CommandTools, 'say'> & { dns: Resolver };

/** Examines everything the service depends on. What cannot be examined is a finding too. */
export async function examine(config: Config, { say, dns }: Examining, asked: DoctorQuestions) {
  const { findings, senders, publicUrl, unreadable } = await examineDatabase(config, say);
  findings.push(
    rules.judgeSecret({ ...findSecret(config), unreadable }),
    rules.judgePublicUrl(whereLinksLead(config, publicUrl)),
  );
  findings.push(...(await examineProxies(config)));
  if (!config.databaseUrl) findings.push(await examineDisk(config.dataDir));
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

/** What is known of a deployment whose database cannot be read. */
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
  const senders = config.smtpUrl ? await listSenders(db) : [];
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
async function examineDisk(dataDir: string): Promise<Finding> {
  const path = await nearest(resolve(dataDir));
  try {
    await access(path, constants.W_OK);
    const { bavail, bsize } = await statfs(path);
    return rules.judgeDisk({ path, freeBytes: bavail * bsize });
  } catch (error) {
    return finding('disk', 'fail', explain(error));
  }
}

async function nearest(path: string): Promise<string> {
  const exists = await access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  return exists || path === dirname(path) ? path : await nearest(dirname(path));
}
