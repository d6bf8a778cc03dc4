import { withinMs } from '../async/deadline.ts';
import { connect, type Db, one, type SessionLimits, type Sql } from './db.ts';
import { createLag } from './lag.ts';

const lookEveryMs = 250;
/** A replica that does not answer a look for so long is passed over. */
const answerLimitMs = 250;

/** A server that replays what the primary writes, and takes reads while it is not too far behind. */
export type Replica = {
  /** Whether reads go there now; if not they are not even tried. */
  isUsable: () => boolean;
  /** Why it is passed over. */
  problem: () => string | undefined;
  /** How far it is behind, as far as it is known. */
  lagSeconds: () => number;
  /**
   * What the work reads there, by a snapshot that contains everything up to this position of the log; undefined
   * when the replica is not that far or goes away meanwhile, and the read belongs to the primary.
   */
  read: <T>(position: number, work: (sql: Sql) => Promise<T>) => Promise<{ value: T } | undefined>;
  stop: () => Promise<void>;
};

type ReplicaOptions = {
  url: string;
  primary: Db;
  connections: number;
  maxLagSeconds: number;
  limits: SessionLimits;
  program: string;
  /** Divides the connections between those that read. */
  share?: (db: Db) => Db;
};

/**
 * Looks four times a second how far the replica is. Its lag is the time since the primary was where the replica is
 * now, so that a primary without writes makes no lag. What is known of its position only grows while its
 * connections last: it is read before the snapshot of a read, never after.
 */
export async function followReplica(options: ReplicaOptions): Promise<Replica> {
  const { primary, connections, maxLagSeconds } = options;
  const lag = createLag();
  let replayed = 0;
  let problem: string | undefined = 'was not asked yet';
  let away = Promise.withResolvers<void>();
  let looking: Promise<void> | undefined;
  const open = (size: number, more: { onClose?: () => void } = {}) =>
    connect(options.url, { ...options, connections: size, ...more });
  const pool = open(connections, { onClose: () => passOver('has lost a connection') });
  const db = options.share ? options.share(pool) : pool;
  // Of its own: a pool that is busy does not make a replica one that is away.
  let probe = open(1);

  function passOver(why: string) {
    away.resolve();
    away = Promise.withResolvers<void>();
    problem = why;
    replayed = 0;
  }

  async function look() {
    try {
      const position = await withinMs(positionOf(primary), answerLimitMs, () => undefined);
      if (position !== undefined) lag.primaryIsAt(position, performance.now());
      const found = await withinMs(stateOf(probe), answerLimitMs, () => undefined);
      if (found) judge(found);
      else restartProbe();
    } catch {
      passOver('cannot be reached');
    }
  }

  function restartProbe() {
    passOver('does not answer');
    void probe.end({ timeout: 0 });
    probe = open(1);
  }

  function judge({ position, system }: ReplicaState) {
    if (position === null) return passOver('is no replica: it takes writes itself');
    if (system !== primarySystem) return passOver('is no replica of this primary');
    lag.replicaIsAt(position, performance.now());
    const seconds = lag.seconds(performance.now());
    if (seconds === Number.POSITIVE_INFINITY) return passOver('is behind, by an unknown time');
    if (seconds > maxLagSeconds) return passOver(`is ${Math.round(seconds)} seconds behind`);
    replayed = Math.max(replayed, position);
    problem = undefined;
  }

  async function readAt<T>(position: number, work: (sql: Sql) => Promise<T>) {
    if (replayed < position) {
      const { position: now } = await stateOf(db);
      if (now === null || now < position) return undefined;
      if (problem === undefined) replayed = Math.max(replayed, now);
    }
    return { value: await work(db) };
  }

  const primarySystem = await systemOf(primary);
  await look();
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }, lookEveryMs);

  return {
    isUsable: () => problem === undefined,
    problem: () => problem,
    lagSeconds: () => lag.seconds(performance.now()),
    async read(position, work) {
      if (problem !== undefined) return undefined;
      const asked = readAt(position, work).catch((error) => {
        if (isRefusedRead(error)) throw error;
        return undefined;
      });
      return await Promise.race([asked, away.promise.then(() => undefined)]);
    },
    async stop() {
      clearInterval(timer);
      await looking;
      await Promise.all([pool.end({ timeout: 1 }), probe.end({ timeout: 0 })]);
    },
  };
}

/** Mistakes of the statement itself, which the primary would make as well, have a class of their own. */
const isRefusedRead = (error: unknown) =>
  /^(22|42)/.test(String((error as { code?: unknown } | null)?.code));

type ReplicaState = { position: number | null; system: string };

async function stateOf(sql: Sql): Promise<ReplicaState> {
  return one(
    await sql<ReplicaState[]>`
      select case when pg_is_in_recovery()
                  then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 end as position,
             (select system_identifier::text from pg_control_system()) as system`,
  );
}

/** How far the log of a primary is written. */
async function positionOf(sql: Sql): Promise<number> {
  const rows = await sql<{ position: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as position`;
  return one(rows).position;
}

async function systemOf(sql: Sql): Promise<string> {
  const rows = await sql<{ system: string }[]>`
    select system_identifier::text as system from pg_control_system()`;
  return one(rows).system;
}
