import { withinMs } from '../async/deadline.ts';
import { connect, type Db, one, type SessionLimits, type Sql } from './db.ts';

const lookEveryMs = 250;
/** A replica that does not answer a look for so long is passed over. */
const answerLimitMs = 250;
/** Each look adds one: more than the longest lag that is tolerated has. */
const maxMarks = 16_384;

export type Replica = Awaited<ReturnType<typeof followReplica>>;

type ReplicaOptions = {
  url: string;
  primary: Db;
  connections: number;
  maxLagSeconds: number;
  limits: SessionLimits;
  program: string;
  share?: (db: Db) => Db;
};

/**
 * Looks four times a second how far the replica is. Its lag is the time since the primary was where the replica is
 * now, so that a primary without writes makes no lag. What is known of its position only grows while its
 * connections last: it is read before the snapshot of a read, never after.
 */
export async function followReplica(options: ReplicaOptions) {
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
    } catch (error) {
      passOver(whyUnreached(error));
    }
  }

  function restartProbe() {
    passOver('does not answer');
    void probe.end({ timeout: 0 });
    probe = open(1);
  }

  function judge({ position, ...there }: ReplicaState) {
    const why = whyForeign({ isWritten: position === null, ...there }, home);
    if (why !== undefined || position === null) return passOver(why ?? 'is no replica');
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

  const home = await placeOf(primary);
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
    /**
     * Reads by a snapshot that contains everything up to this position of the log; undefined when the replica is
     * not that far or goes away meanwhile, and the read belongs to the primary.
     */
    async read<T>(position: number, work: (sql: Sql) => Promise<T>) {
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

/**
 * How far a replica is behind, as the time since the primary was where the replica is now. A primary without writes
 * stays where it is, so that a replica which has everything is not behind.
 */
export function createLag() {
  /** Where the primary was at which time; the first is the last one that the replica has reached, if it has. */
  const marks: { position: number; at: number }[] = [];
  let reachedAt: number | undefined;

  return {
    primaryIsAt(position: number, at: number) {
      const last = marks.at(-1);
      // The time at which it was left counts, and not the time at which it was reached.
      if (last?.position === position) last.at = at;
      else marks.push({ position, at });
      if (marks.length > maxMarks) marks.splice(1, 1);
    },
    replicaIsAt(position: number, at: number) {
      while (marks.length > 1 && marks[1]!.position <= position) marks.shift();
      const first = marks[0];
      if (!first || first.position > position) return;
      reachedAt = marks.length === 1 ? at : first.at;
    },
    /** Endless until the replica has reached a place where the primary is known to have been. */
    seconds: (now: number) =>
      reachedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (now - reachedAt) / 1000),
  };
}

/** Mistakes of the statement itself, which the primary would make as well, have a class of their own. */
const isRefusedRead = (error: unknown) =>
  /^(22|42)/.test(String((error as { code?: unknown } | null)?.code));

const reasons: Readonly<Record<string, string>> = {
  '28000': 'does not accept the user that it names',
  '28P01': 'does not accept its user or its password',
  '3D000': 'names a database that does not exist there',
};

const whyUnreached = (error: unknown) =>
  reasons[String((error as { code?: unknown } | null)?.code)] ?? 'cannot be reached';

type Place = { system: string; database: string };

/** What follows the primary has its databases, and must be asked for the same one. */
function whyForeign({ isWritten, system, database }: Place & { isWritten: boolean }, home: Place) {
  if (isWritten && system === home.system) return 'leads to the primary itself';
  if (isWritten) return 'leads to another server that takes writes';
  if (system !== home.system) return 'is no replica of this primary';
  if (database === home.database) return undefined;
  return `leads to the database ${database}, and not to ${home.database}`;
}

type ReplicaState = Place & { position: number | null };

async function stateOf(sql: Sql): Promise<ReplicaState> {
  return one(
    await sql<ReplicaState[]>`
      select case when pg_is_in_recovery()
                  then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 end as position,
             (select system_identifier::text from pg_control_system()) as system,
             current_database() as database`,
  );
}

async function positionOf(sql: Sql): Promise<number> {
  const rows = await sql<{ position: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as position`;
  return one(rows).position;
}

async function placeOf(sql: Sql): Promise<Place> {
  return one(
    await sql<Place[]>`
      select system_identifier::text as system, current_database() as database
      from pg_control_system()`,
  );
}
