import { Refusal } from './errors.ts';
import { awaitDatabase } from './lib/db/await-database.ts';
import { mustChoose } from './lib/db/database-url.ts';
import { connect, type Db, serviceLimits } from './lib/db/db.ts';
import { createPoolSlots, shareFairly } from './lib/db/fair-pool.ts';
import { type PoolUse, watchPool } from './lib/db/pool-use.ts';
import { reachServers, type Servers } from './lib/db/servers.ts';
import { attachEmbedded, type Embedded, startEmbedded } from './lib/embedded-postgres/embedded.ts';
import type { Config } from './settings/config.ts';

/** Names the account, role and database of an embedded Postgres, and the connections to any. */
const program = 'askback';

export type Database = {
  db: Db;
  /** The same pool, divided between the organizations that requests belong to. Work for all of them must not use it. */
  requestDb: Db;
  /** How much of `db` is in use. */
  pool: () => PoolUse;
  url: string;
  /** The way to the one that takes writes, when the address names several servers. */
  servers?: Servers | undefined;
  /** The absolute data directory: another account may not be able to resolve a relative path. */
  dataDir: string;
  close: () => Promise<void>;
  /** Rejects, with the sentence to end with, when the embedded Postgres ends by itself. */
  lost: Promise<never>;
};

/** The pool is idle when it is closed, except for a query whose connection was lost. */
const closeTimeoutSeconds = 1;

/** Connects to the deployment's Postgres and waits until it answers. */
export async function openDatabase(
  config: Config,
  { say, connections, serving = false }: Opening,
): Promise<Database> {
  const embedded = config.databaseUrl
    ? undefined
    : await openEmbedded(config, { say, serving }).catch(namingSetting('ASKBACK_DATA_DIR'));
  const url = config.databaseUrl ?? embedded!.url;
  const servers = mustChoose(url) ? reachServers(url) : undefined;
  const limits = serving ? { limits: serviceLimits } : {};
  const { db, use: pool } = watchPool(
    connect(url, { program, connections, ...limits, ...(servers && { socket: servers.socket }) }),
  );
  const close = async () => {
    await db.end({ timeout: closeTimeoutSeconds });
    await servers?.stop();
    await embedded?.stop();
  };
  try {
    const patience = { seconds: config.databaseWaitSeconds, say };
    await awaitDatabase(db, patience).catch(embedded ? undefined : namingSetting('DATABASE_URL'));
    const dataDir = embedded?.dataDir ?? config.dataDir;
    return {
      db,
      requestDb: shareFairly(db, createPoolSlots(connections)),
      pool,
      url,
      servers,
      dataDir,
      close,
      lost: lossOf(embedded),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Opening = {
  /** A message for people: what is being waited for. */
  say: (sentence: string) => void;
  connections: number;
  /** Whether this is the service, which must give up being root, and not a command. */
  serving?: boolean;
};

/** The service started by root changes to another account; a command started by root keeps reading root's files. */
function openEmbedded(
  { dataDir }: Config,
  { say, serving }: Pick<Required<Opening>, 'say' | 'serving'>,
) {
  return serving
    ? startEmbedded({ program, dataDir, say })
    : attachEmbedded({ program, dataDir, say, keepRoot: true });
}

function lossOf(embedded: Embedded | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {}); // a command may have ended before the database does
  embedded?.onExit((sentence) => reject(new Refusal('unavailable', sentence)));
  return promise;
}

/** Names the setting at fault, in a sentence that does not name it yet. */
const namingSetting = (name: string) => (error: unknown) => {
  const isOurs = error instanceof Refusal && error.kind === 'unavailable';
  if (!isOurs || error.message.includes(name)) throw error;
  throw new Refusal('unavailable', `${name}: ${error.message}`, { code: error.code });
};
