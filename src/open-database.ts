import type { CommandTools } from './command-tools.ts';
import { Refusal, unavailable } from './errors.ts';
import { awaitDatabase } from './lib/db/await-database.ts';
import {
  connect,
  type Db,
  needsWritableServer,
  one,
  type Sql,
  serviceLimits,
} from './lib/db/db.ts';
import { createPoolSlots, type PoolUse, serviceWork, shareFairly } from './lib/db/fair-pool.ts';
import { reachServers, type Servers } from './lib/db/servers.ts';
import { attachEmbedded, type Embedded, startEmbedded } from './lib/embedded-postgres/embedded.ts';
import { httpAddress } from './lib/http/http-address.ts';
import type { Config } from './settings.ts';

/** The embedded Postgres uses this name for its account, role and database. All connections use it too. */
const program = 'askback';

/** Connections without a transaction pooler. */
export type SessionAddress = { db: Db; url: string; servers?: Servers | undefined };

export type Database = {
  db: Db;
  /** The same pool, shared fairly between the organizations of requests. */
  requestDb: Db;
  pool: () => PoolUse;
  /** For notifications, locks, jobs and migrations. */
  sessions: SessionAddress;
  /** True if requests use another address, perhaps of a pooler. */
  isApart: boolean;
  /** Absolute, because another account may not be able to resolve a relative path. */
  dataDir: string;
  close: () => Promise<void>;
  /** Rejects when the embedded Postgres stops unexpectedly. */
  lost: Promise<never>;
};

export const databaseLost = 'database_lost';

const closeTimeoutSeconds = 1;
/** For migrations and notifications. Jobs and locks open their own connections. */
const sessionConnections = 3;

/** Opens the database for a command or, with `serving`, for the service. The service must not stay root. */
export async function openDatabase(
  config: Config,
  opening: { say: (sentence: string) => void; connections: number; serving?: boolean },
): Promise<Database> {
  const { say, connections, serving = false } = opening;
  const { dataDir, postgresDir } = config;
  const attached = { program, dataDir, postgresDir, say };
  const embedded = config.databaseUrl
    ? undefined
    : // The service drops root. A command stays root, to read its files.
      await (serving
        ? startEmbedded(attached)
        : attachEmbedded({ ...attached, keepRoot: true })
      ).catch(namingSetting('ASKBACK_DATA_DIR'));
  const pooled = config.databaseUrl ?? embedded!.url;
  // Commands have few connections and need no pooler.
  const isApart = serving && config.sessionDatabaseUrl !== null;
  const direct = config.sessionDatabaseUrl ?? pooled;
  const plain = { program, connections, prepare: config.preparedStatements };
  const way = { ...plain, ...(serving && { limits: serviceLimits }) };
  const patience = { seconds: config.databaseWaitSeconds, say };
  const opened = new AsyncDisposableStack();
  const close = () => opened.disposeAsync();
  opened.defer(async () => await embedded?.stop());
  const open = (url: string, options: typeof way) => {
    const servers = needsWritableServer(url) ? reachServers(url) : undefined;
    opened.defer(async () => await servers?.stop());
    const db = connect(url, { ...options, ...(servers && { socket: servers.socket }) });
    opened.defer(() => db.end({ timeout: closeTimeoutSeconds }));
    return { db, url, servers };
  };
  try {
    const setting = config.sessionDatabaseUrl ? 'ASKBACK_SESSION_DATABASE_URL' : 'DATABASE_URL';
    const sessions = open(direct, isApart ? { ...way, connections: sessionConnections } : way);
    await awaitDatabase(sessions.db, patience).catch(embedded ? undefined : namingSetting(setting));
    const apart = async () => {
      // A pooler would pass session limits on to other clients, so the role must have them.
      const { db } = open(pooled, plain);
      await awaitDatabase(db, patience).catch(namingSetting('DATABASE_URL'));
      const [there, here] = await Promise.all([identify(db), identify(sessions.db)]);
      // Jobs in another database would never run.
      if (there !== here) throw unavailable(otherDatabase);
      return db;
    };
    const pool = isApart ? await apart() : sessions.db;
    const slots = createPoolSlots(connections);
    // Commands do one thing at a time.
    const db = serving ? shareFairly(pool, slots, serviceWork) : pool;
    return {
      db,
      requestDb: shareFairly(pool, slots),
      pool: slots.use,
      sessions: isApart ? sessions : { ...sessions, db },
      isApart,
      dataDir: embedded?.dataDir ?? config.dataDir,
      close,
      lost: lossOf(embedded),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function lossOf(embedded: Embedded | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {}); // nobody may be waiting
  embedded?.onExit((sentence) => reject(unavailable(sentence, { code: databaseLost })));
  return promise;
}

const namingSetting = (name: string) => (error: unknown) => {
  const isOurs = error instanceof Refusal && error.kind === 'unavailable';
  if (!isOurs || error.message.includes(name) || /^[A-Z_]+: /.test(error.message)) throw error;
  throw unavailable(`${name}: ${error.message}`, { code: error.code });
};

async function identify(sql: Sql): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    select pg_postmaster_start_time()::text || ' ' || current_database() as id`;
  return one(rows).id;
}

const otherDatabase = 'ASKBACK_SESSION_DATABASE_URL must be the same database as DATABASE_URL';

export async function writeServiceRecord(sql: Sql, publicUrl: string) {
  await sql`
    insert into service_record (public_url)
    values (${publicUrl})
    on conflict (is_singleton) do update
      set public_url = excluded.public_url,
          updated_at = now()`;
}

export async function readServiceRecord(sql: Sql) {
  const [row] = await sql<{ public_url: string; updated_at: Date }[]>`
    select public_url, updated_at from service_record`;
  return row;
}

/** The setting, else the URL in the service record, else HOST and PORT. */
export async function publicUrlOf(sql: Sql, config: Config): Promise<string | null> {
  if (config.publicUrl) return config.publicUrl;
  const record = await readServiceRecord(sql);
  if (record) return record.public_url;
  return config.port === 0 ? null : httpAddress(config.host, config.port);
}

/** True if a process runs jobs. Rows of killed processes may remain, but their sessions end. */
export async function hasJobsProcess(sql: Sql): Promise<boolean> {
  const { held } = one(
    await sql<{ held: boolean }[]>`
      select exists (select from worker_pools where is_alive(worker_pools)) as held`,
  );
  return held;
}

export async function warnWithoutJobs({ say }: Pick<CommandTools, 'say'>, sql: Sql, then: string) {
  if (await hasJobsProcess(sql)) return;
  say(`the service is not running on this database: ${then}`);
}
