import type { CommandTools } from './command-tools.ts';
import { Refusal } from './errors.ts';
import { awaitDatabase } from './lib/db/await-database.ts';
import {
  connect,
  type Db,
  needsWritableServer,
  one,
  type Sql,
  serviceLimits,
} from './lib/db/db.ts';
import {
  addCircuitBreaker,
  createPoolSlots,
  type PoolUse,
  serviceWork,
  shareFairly,
} from './lib/db/fair-pool.ts';
import { reachServers, type Servers } from './lib/db/servers.ts';
import { attachEmbedded, type Embedded, startEmbedded } from './lib/embedded-postgres/embedded.ts';
import { httpAddress } from './lib/http/http-address.ts';
import type { Config } from './settings.ts';

/** Names the account, role and database of an embedded Postgres, and the connections to any. */
const program = 'askback';

/** Where a connection stays with the process that made it. */
export type SessionAddress = { db: Db; url: string; servers?: Servers | undefined };

export type Database = {
  db: Db;
  /** The same pool, divided between the organizations that requests belong to. Work for all of them uses `db`. */
  requestDb: Db;
  /** How much of `db` is in use, and what waits for it, requests that wait for their turn included. */
  pool: () => PoolUse;
  /** The way for what needs a connection of its own: notifications, locks, jobs, migrations. */
  sessions: SessionAddress;
  /** Whether requests take another way than these, through a pooler perhaps. */
  isApart: boolean;
  /** The absolute data directory: another account may not be able to resolve a relative path. */
  dataDir: string;
  close: () => Promise<void>;
  /** Rejects, with the sentence to end with, when the embedded Postgres ends by itself. */
  lost: Promise<never>;
};

/** The code of the refusal that a process ends with when its embedded Postgres has ended. */
export const databaseLost = 'database_lost';

/** The pool is idle when it is closed, except for a query whose connection was lost. */
const closeTimeoutSeconds = 1;
/** For a migration and notifications: everything else that needs a session connects by itself. */
const sessionConnections = 3;

/** `serving`: this is the service, which must give up being root, and not a command. */
export async function openDatabase(
  config: Config,
  opening: { say: (sentence: string) => void; connections: number; serving?: boolean },
): Promise<Database> {
  const { say, connections, serving = false } = opening;
  const { dataDir, postgresDir } = config;
  const attached = { program, dataDir, postgresDir, say };
  const embedded = config.databaseUrl
    ? undefined
    : // Started by root the service becomes another account; a command keeps reading root's files.
      await (serving
        ? startEmbedded(attached)
        : attachEmbedded({ ...attached, keepRoot: true })
      ).catch(namingSetting('ASKBACK_DATA_DIR'));
  const pooled = config.databaseUrl ?? embedded!.url;
  // A command has few connections, and needs no pooler.
  const isApart = serving && config.sessionDatabaseUrl !== null;
  const direct = config.sessionDatabaseUrl ?? pooled;
  const plain = { program, connections, prepare: config.preparedStatements };
  const way = { ...plain, ...(serving && { limits: serviceLimits }) };
  const patience = { seconds: config.databaseWaitSeconds, say };
  const ends: (() => Promise<unknown>)[] = [async () => await embedded?.stop()];
  const close = async () => {
    for (const end of ends.toReversed()) await end();
  };
  const open = (url: string, options: typeof way) => {
    const servers = needsWritableServer(url) ? reachServers(url) : undefined;
    ends.push(async () => await servers?.stop());
    const db = connect(url, { ...options, ...(servers && { socket: servers.socket }) });
    ends.push(() => db.end({ timeout: closeTimeoutSeconds }));
    return { db, url, servers };
  };
  try {
    const setting = config.sessionDatabaseUrl ? 'ASKBACK_SESSION_DATABASE_URL' : 'DATABASE_URL';
    const sessions = open(direct, isApart ? { ...way, connections: sessionConnections } : way);
    await awaitDatabase(sessions.db, patience).catch(embedded ? undefined : namingSetting(setting));
    const apart = async () => {
      // Behind a pooler the limits of one client would hold for others that use its connection next: the role has them.
      const { db } = open(pooled, plain);
      await awaitDatabase(db, patience).catch(namingSetting('DATABASE_URL'));
      const [there, here] = await Promise.all([identify(db), identify(sessions.db)]);
      // Jobs in another database than their cause would never run.
      if (there !== here) throw new Refusal('unavailable', otherDatabase);
      return db;
    };
    const pool = isApart ? await apart() : sessions.db;
    const slots = createPoolSlots({ connections, processors: config.databaseProcessors });
    // A command does one thing at a time, with connections for it alone.
    const db = serving ? shareFairly(pool, slots, serviceWork) : pool;
    return {
      db,
      requestDb: shareFairly(addCircuitBreaker(pool), slots),
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
  promise.catch(() => {}); // a command may have ended before the database does
  embedded?.onExit((sentence) =>
    reject(new Refusal('unavailable', sentence, { code: databaseLost })),
  );
  return promise;
}

/** Names the setting at fault, in a sentence that does not name it yet. */
const namingSetting = (name: string) => (error: unknown) => {
  const isOurs = error instanceof Refusal && error.kind === 'unavailable';
  if (!isOurs || error.message.includes(name) || /^[A-Z_]+: /.test(error.message)) throw error;
  throw new Refusal('unavailable', `${name}: ${error.message}`, { code: error.code });
};

async function identify(sql: Sql): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    select pg_postmaster_start_time()::text || ' ' || current_database() as id`;
  return one(rows).id;
}

const otherDatabase =
  'ASKBACK_SESSION_DATABASE_URL leads to another database than DATABASE_URL: both must be the same one';

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

/** What links begin with: the setting, else the address in the service record, else HOST and PORT. */
export async function publicUrlOf(sql: Sql, config: Config): Promise<string | null> {
  if (config.publicUrl) return config.publicUrl;
  const record = await readServiceRecord(sql);
  if (record) return record.public_url;
  return config.port === 0 ? null : httpAddress(config.host, config.port);
}

/** Whether a process runs jobs. The row of one that was killed stays until another one sweeps; its session does not. */
export async function hasJobsProcess(sql: Sql): Promise<boolean> {
  const { held } = one(
    await sql<{ held: boolean }[]>`
      select exists (select from worker_pools where is_alive(worker_pools)) as held`,
  );
  return held;
}

/** A command that leaves its work to the service says at once when there is none. */
export async function warnWithoutJobs({ say }: Pick<CommandTools, 'say'>, sql: Sql, then: string) {
  if (await hasJobsProcess(sql)) return;
  say(`the service does not run on this database: ${then}`);
}
