import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { signal } from '../async/deadline.ts';
import type { Log } from '../log/log.ts';
import { type QueueAddress, urlOf } from './connections.ts';

const tryAgainMs = 250;
/**
 * Work of dead processes goes on within a second. Each sweep also proves that the session still holds its locks, sooner
 * than Postgres gives up a silent connection, in 15 s.
 */
const sweepMs = 900;
/** Short, because each row that is claimed carries the name. */
const idBytes = 6;
/** Longer than any healthy answer; a session that is silent for so long counts as lost. */
const answerTimeoutMs = 5000;

export type Lease = Awaited<ReturnType<typeof holdLease>>;

/**
 * Holds names that live as long as this process can reach Postgres: one in which it claims work, and those of its worker
 * pools. When its session breaks, the names die with all that was claimed in them, and there is a new one.
 */
export async function holdLease(address: QueueAddress, log: Log, program: string) {
  const freed = signal<null>();
  const alive = new Set<string>();
  let stopping = false;
  let sweeping = false;
  let current = await begin();

  async function begin() {
    const session = await openSession(address, log, program);
    const id = `lease-${randomBytes(idBytes).toString('base64url')}`;
    alive.add(id);
    try {
      await session.register(id);
    } catch (error) {
      alive.delete(id);
      await session.end();
      throw error;
    }
    return { id, session };
  }

  async function keepAlive() {
    while (!stopping) {
      await current.session.lost;
      alive.delete(current.id);
      while (!stopping) {
        const next = await begin().catch(() => undefined);
        if (next) current = next;
        if (next) break;
        await sleep(tryAgainMs);
      }
    }
  }

  /** A sweep that fails ends the session: such a session may also fail to prove that this process is alive. */
  async function sweep() {
    if (sweeping) return;
    sweeping = true;
    const { session } = current;
    try {
      if (await session.sweep(alive)) freed.publish(null);
    } catch {
      await session.end();
    } finally {
      sweeping = false;
    }
  }

  /** If it fails, a sweep frees them. */
  async function free(poolId: string) {
    await current.session.free([poolId]).catch((error) => {
      log.debug({ err: error }, 'a worker pool could not be freed, a sweep will do it');
    });
    alive.delete(poolId);
    freed.publish(null);
  }

  const living = keepAlive();
  const timer = setInterval(sweep, sweepMs);
  void sweep();
  return {
    /** The name in which this process claims work. What has this name is free again when it has died. */
    id: () => current.id,
    /** Published when jobs of a pool are free: other work of its process may be free, too. */
    freed,
    lost: () => current.session.lost,
    register(poolId: string) {
      alive.add(poolId);
      return current.session.register(poolId);
    },
    free,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await free(current.id);
      await current.session.end();
      await living;
    },
  };
}

/**
 * A connection of its own that holds the advisory locks of names. When the process dies, however it dies, Postgres lets
 * go of the locks, and the process that then gets one may free what was claimed in its name.
 */
export async function openSession(address: QueueAddress, log: Log, program: string) {
  const client = new pg.Client({
    connectionString: await urlOf(address),
    ...(address.servers && { stream: address.servers.stream }),
    application_name: 'askback jobs session',
    connectionTimeoutMillis: answerTimeoutMs,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
  });
  const lost = new Promise<void>((resolve) => client.once('end', resolve));
  client.on('error', (error) => log.debug({ err: error }, 'a jobs session broke'));
  await client.connect();

  /**
   * The lock with the row: a row that others can see always belongs to a lock that is held. A machine that vanishes
   * closes no connection: Postgres finds out in 15 s instead of 2 hours.
   */
  async function register(poolId: string) {
    await client.query(
      `with held as materialized (
         select pg_advisory_lock($2),
                set_config('tcp_keepalives_idle', '5', false),
                set_config('tcp_keepalives_interval', '5', false),
                set_config('tcp_keepalives_count', '2', false)
       )
       insert into worker_pools (pool_id, lock_key, program)
       select $1, $2, $3
       from held`,
      [poolId, randomBytes(8).readBigInt64BE(), program],
    );
  }

  /**
   * Frees the jobs of pools whose process has died; returns whether there were any. The lock of a pool of our own must
   * not be tried: a session gets its own lock again at once.
   */
  async function sweep(alive: ReadonlySet<string>): Promise<boolean> {
    const { rows } = await client.query<{ pool_id: string; lock_key: string; dead: boolean }>({
      name: 'sweep', // prepared once: it is asked every second
      text: `select pool_id, lock_key, pg_try_advisory_lock(lock_key) as dead
             from worker_pools
             where pool_id <> all($1)`,
      values: [[...alive]],
    });
    const dead = rows.filter((row) => row.dead);
    if (dead.length === 0) return false;
    await free(dead.map((row) => row.pool_id));
    await client.query('select pg_advisory_unlock(key) from unnest($1::bigint[]) as key', [
      dead.map((row) => row.lock_key),
    ]);
    return true;
  }

  /** The jobs first: as long as the row exists, somebody will try again. */
  async function free(poolIds: string[]) {
    await client.query('select graphile_worker.force_unlock_workers($1)', [poolIds]);
    await client.query('delete from worker_pools where pool_id = any($1)', [poolIds]);
  }

  return { lost, register, sweep, free, end: () => client.end().catch(() => {}) };
}
