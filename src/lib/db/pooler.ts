import { withinMs } from '../async/deadline.ts';
import { connect, type Db, one, type Sql } from './db.ts';

/** What lends connections between a client and Postgres, and for how long: one session, transaction or statement. */
export type PoolerMode = 'none' | 'session' | 'transaction' | 'statement';

export type Pooler = {
  mode: PoolerMode;
  /** Whether it keeps prepared statements of clients apart, and carries them from one connection to another. */
  prepares: boolean;
};

export const notPooled: Pooler = { mode: 'none', prepares: true };

const rounds = 8;
/** A statement that waits so long waits for a connection that another client of the pooler has. */
const waitLimitMs = 2000;

/**
 * Finds a pooler by what it cannot hide. One that pools shows a client another number of the backend than the
 * backend itself does; and one that lends its connections by transaction gives two clients the same backend.
 */
export async function findPooler(url: string): Promise<Pooler> {
  const probe = connect(url, { connections: 2, prepare: false });
  try {
    const first = await probe.reserve();
    if (!(await isPooled(first))) return notPooled;
    const second = await probe.reserve();
    const mode = await modeOf(first, second);
    if (mode !== 'transaction') return { mode, prepares: mode === 'session' };
    return { mode, prepares: await carriesPrepared(url) };
  } finally {
    await probe.end({ timeout: 0 });
  }
}

/** Whether the backend has another number than the connection was given; poolers of all modes show that. */
export async function isPooled(session: Sql): Promise<boolean> {
  const rows = await session<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return one(rows).pid !== (rows as unknown as { state: { pid: number } }).state.pid;
}

async function modeOf(first: Sql, second: Sql): Promise<PoolerMode> {
  const waits = () => undefined;
  for (let round = 0; round < rounds; round++) {
    const before = await pidOf(first);
    const begun = await withinMs(tryBegin(second), waitLimitMs, waits);
    if (begun === 'refused') return 'statement';
    if (begun === undefined) return 'session'; // the only connection is the first client's
    const other = await pidOf(second);
    const after = await withinMs(pidOf(first), waitLimitMs, waits);
    if (after !== before || other === before) return 'transaction';
    await second`rollback`;
  }
  return 'session';
}

async function tryBegin(session: Sql): Promise<'begun' | 'refused'> {
  return await session`begin`.then(
    () => 'begun' as const,
    (error: { code?: string; message?: string }) => {
      // PgBouncer says so and hangs up, and the driver reports one or the other.
      const isRefused =
        error.code === 'CONNECTION_CLOSED' || /transaction/.test(error.message ?? '');
      if (isRefused) return 'refused' as const;
      throw error;
    },
  );
}

const pidOf = async (session: Sql) =>
  one(await session<{ pid: number }[]>`select pg_backend_pid() as pid`).pid;

/** PgBouncer from 1.21 on gives prepared statements names of its own, when `max_prepared_statements` is set. */
async function carriesPrepared(url: string): Promise<boolean> {
  const db: Db = connect(url, { connections: 1 });
  try {
    return await db.begin(async (tx) => {
      await tx`select ${1}::int`;
      const renamed = await tx`select from pg_prepared_statements where name like 'PGBOUNCER_%'`;
      return renamed.length > 0;
    });
  } finally {
    await db.end({ timeout: 0 });
  }
}

/** The same for two addresses that lead to the same database of the same server. */
export async function identify(sql: Sql): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    select pg_postmaster_start_time()::text || ' ' || current_database() as id`;
  return one(rows).id;
}
