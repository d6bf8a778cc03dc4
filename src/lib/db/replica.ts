import { withinMs } from '../async/deadline.ts';
import { connect, type Db, one, type SessionLimits, type Sql } from './db.ts';

const pollMs = 250;
const answerLimitMs = 250;
/** One mark per poll: enough for the longest tolerated lag. */
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
 * Polls the position and lag of the replica four times a second. The replica has reached at least the position
 * `replayed`. The position cannot go back while the connections last, so every later snapshot contains `replayed`.
 */
export async function followReplica(options: ReplicaOptions) {
  const { primary, connections, maxLagSeconds } = options;
  const lag = createLag();
  let replayed = 0;
  let problem: string | undefined = 'has not been checked yet';
  let away = Promise.withResolvers<void>();
  let polling: Promise<void> | undefined;
  const open = (size: number, more: { onClose?: () => void } = {}) =>
    connect(options.url, { ...options, connections: size, ...more });
  const pool = open(connections, { onClose: () => skip('has lost a connection') });
  const db = options.share ? options.share(pool) : pool;
  // A separate connection, so that a busy pool does not look like an outage.
  let probe = open(1);

  function skip(reason: string) {
    away.resolve();
    away = Promise.withResolvers<void>();
    problem = reason;
    replayed = 0;
  }

  async function poll() {
    try {
      const position = await withinMs(positionOf(primary), answerLimitMs, () => undefined);
      if (position !== undefined) lag.primaryIsAt(position, performance.now());
      const state = await withinMs(stateOf(probe), answerLimitMs, () => undefined);
      if (state) judge(state);
      else restartProbe();
    } catch (error) {
      skip(reasons[String((error as { code?: unknown } | null)?.code)] ?? 'cannot be reached');
    }
  }

  function restartProbe() {
    skip('does not answer');
    void probe.end({ timeout: 0 });
    probe = open(1);
  }

  function judge(state: ReplicaState) {
    const { position } = state;
    const mismatch = describeMismatch(state, home);
    if (mismatch !== undefined || position === null) return skip(mismatch ?? 'is not a replica');
    lag.replicaIsAt(position, performance.now());
    const seconds = lag.seconds(performance.now());
    if (seconds === Number.POSITIVE_INFINITY) return skip('is behind, by an unknown time');
    if (seconds > maxLagSeconds) return skip(`is ${Math.round(seconds)} seconds behind`);
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

  const home = await stateOf(primary);
  await poll();
  const timer = setInterval(() => {
    polling ??= poll().finally(() => {
      polling = undefined;
    });
  }, pollMs);

  return {
    isUsable: () => problem === undefined,
    problem: () => problem,
    lagSeconds: () => lag.seconds(performance.now()),
    /** Reads a snapshot that contains this WAL position. If it returns undefined, the caller reads from the primary. */
    async read<T>(position: number, work: (sql: Sql) => Promise<T>) {
      if (problem !== undefined) return undefined;
      const reading = readAt(position, work).catch((error) => {
        if (isStatementError(error)) throw error;
        return undefined;
      });
      return await Promise.race([reading, away.promise.then(() => undefined)]);
    },
    async stop() {
      clearInterval(timer);
      await polling;
      await Promise.all([pool.end({ timeout: 1 }), probe.end({ timeout: 0 })]);
    },
  };
}

/** Replication lag: the time since the primary left the replica's position. An idle primary adds no lag. */
export function createLag() {
  /** Positions of the primary over time. The first mark is the newest position that the replica has reached, if any. */
  const marks: { position: number; at: number }[] = [];
  let reachedAt: number | undefined;

  return {
    primaryIsAt(position: number, at: number) {
      const last = marks.at(-1);
      // Lag counts from the time when the primary left a position.
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
    /** Infinite until the replica has reached a known position of the primary. */
    seconds: (now: number) =>
      reachedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (now - reachedAt) / 1000),
  };
}

/** The statement is wrong and would fail on the primary as well. */
const isStatementError = (error: unknown) =>
  /^(22|42)/.test(String((error as { code?: unknown } | null)?.code));

const reasons: Readonly<Record<string, string>> = {
  '28000': 'rejects its user',
  '28P01': 'rejects its user or password',
  '3D000': 'names a database that does not exist there',
};

function describeMismatch({ position, system, database }: ReplicaState, home: ReplicaState) {
  if (position === null && system === home.system) return 'points to the primary itself';
  if (position === null) return 'points to another writable server';
  if (system !== home.system) return 'is not a replica of this primary';
  if (database === home.database) return undefined;
  return `points to the database ${database} instead of ${home.database}`;
}

/** The position is null on a writable server. */
type ReplicaState = { position: number | null; system: string; database: string };

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
