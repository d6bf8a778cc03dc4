import { Refusal } from './errors.ts';
import { awaitDatabase } from './lib/db/await-database.ts';
import { connect, type Db } from './lib/db/db.ts';
import { migrate, refuseUnfitPostgres, schemaState } from './lib/db/migrate.ts';
import { type PoolUse, watchPool } from './lib/db/pool-use.ts';
import { attachEmbedded, type Embedded, startEmbedded } from './lib/embedded-postgres/embedded.ts';
import { readServiceRecord } from './service-record.ts';
import type { Config } from './settings/config.ts';

/** What every command has of the world outside: its settings, and where words go. */
export type Tools = {
  /** Reads the environment. A command that touches nothing does not ask for it. */
  config: () => Config;
  /** The names of all variables, for the question which of them mean nothing. */
  variables: () => string[];
  /** The environment itself, for what reads it by its own rules. */
  environment: Record<string, string | undefined>;
  /** A message for people, on stderr. */
  say: (sentence: string) => void;
  /** Data, on stdout. */
  print: (text: string) => void;
  /** Resolves when the process is asked to stop. */
  stopSignal: () => Promise<string>;
};

export type Database = {
  db: Db;
  /** How much of `db` is in use. */
  pool: () => PoolUse;
  url: string;
  /** Where the data directory really is: a relative path means nothing to who became another account. */
  dataDir: string;
  close: () => Promise<void>;
  /** Rejects, with the sentence to end with, when the embedded Postgres ends by itself. */
  lost: Promise<never>;
};

const commandConnections = 2;
/** Nobody uses the pool any more when it is closed; but one that was cut off waits for its lost query. */
const closeTimeoutSeconds = 1;

/** Connects to the deployment's Postgres and waits until it answers. */
export async function openDatabase(
  config: Config,
  { say, connections, serving = false }: Opening,
): Promise<Database> {
  const embedded = config.databaseUrl ? undefined : await openEmbedded(config, { say, serving });
  const url = config.databaseUrl ?? embedded!.url;
  const { db, use: pool } = watchPool(connect(url, { connections }));
  const close = async () => {
    await db.end({ timeout: closeTimeoutSeconds });
    await embedded?.stop();
  };
  try {
    await awaitDatabase(db, { seconds: config.databaseWaitSeconds, say });
    const dataDir = embedded?.dataDir ?? config.dataDir;
    return { db, pool, url, dataDir, close, lost: lossOf(embedded) };
  } catch (error) {
    await close();
    throw error;
  }
}

type Opening = Pick<Tools, 'say'> & { connections: number; serving?: boolean };

/** Root's service becomes another account for good; root's command reads and writes root's files. */
function openEmbedded(
  { dataDir }: Config,
  { say, serving }: Pick<Tools, 'say'> & { serving: boolean },
) {
  return serving
    ? startEmbedded({ dataDir, say })
    : attachEmbedded({ dataDir, say, keepRoot: true });
}

function lossOf(embedded: Embedded | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {}); // a command that is done by then does not ask
  embedded?.onExit((sentence) => reject(new Refusal('unavailable', sentence)));
  return promise;
}

/** Runs a command's work on the deployment's database, whether or not the service is running. */
export async function inDatabase<T>(
  tools: Tools,
  work: (db: Db, config: Config) => Promise<T>,
): Promise<T> {
  const config = tools.config();
  const { db, close } = await openDatabase(config, { ...tools, connections: commandConnections });
  try {
    await refuseUnfitPostgres(db);
    await settleSchema(db);
    return await work(db, config);
  } finally {
    await close();
  }
}

/** An empty database is filled on the way; one that is in use is upgraded only by who means to. */
async function settleSchema(db: Db) {
  const { applied, missing, unknown } = await schemaState(db);
  if (missing.length === 0 && unknown.length === 0) return;
  if (applied > 0 && unknown.length === 0) {
    throw new Refusal(
      'unavailable',
      'this database is older than this askback: run `askback migrate`, or start `askback serve`',
    );
  }
  await migrate(db);
}

/** What links begin with: as configured, as the running service last wrote it down, or HOST and PORT. */
export async function publicUrlOf(db: Db, config: Config): Promise<string | null> {
  if (config.publicUrl) return config.publicUrl;
  const record = await readServiceRecord(db);
  if (record) return record.public_url;
  return config.port === 0 ? null : httpAddress(config.host, config.port);
}

/** An address to type into a browser: an IPv6 host stands in brackets. */
export const httpAddress = (host: string, port: number) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
