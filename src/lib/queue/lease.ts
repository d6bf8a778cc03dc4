import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { signal } from '../async/deadline.ts';
import type { Log } from '../log/log.ts';
import { type QueueAddress, urlOf } from './connections.ts';

const tryAgainMs = 250;
/**
 * Another process continues the work of a dead process within a second. Each sweep also proves that the session is
 * alive, well before Postgres would drop a silent connection (15 s).
 */
const sweepMs = 900;
/** Short, because each claimed row contains the name. */
const idBytes = 6;
/** A session that does not respond for this long counts as lost. */
const answerTimeoutMs = 5000;

export type Lease = Awaited<ReturnType<typeof holdLease>>;

/**
 * Holds the names that this process and its worker pools claim work under, while the process can reach Postgres. When
 * the session breaks, other processes take over the claims of these names, and this process gets a new name.
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

  /** Ends the session after a failure, because a broken session no longer proves that this process is alive. */
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

  /** If this fails, the next sweep frees the jobs. */
  async function free(poolId: string) {
    await current.session.free([poolId]).catch((error) => {
      log.debug({ err: error }, 'could not free a worker pool, the next sweep will do it');
    });
    alive.delete(poolId);
    freed.publish(null);
  }

  const living = keepAlive();
  const timer = setInterval(sweep, sweepMs);
  void sweep();
  return {
    /** The name that this process claims work under. Its claims become free when the process dies. */
    id: () => current.id,
    /** Published when jobs of a pool become free. Claims of the process that ran the pool may be free too. */
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
 * A separate connection that keeps the names alive. When the process dies, Postgres ends the connection, and other
 * processes free the claims of these names. An advisory lock is not safe, because every role of the database, such as a
 * reporter, could take it.
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
  const session = `askback jobs session ${randomBytes(idBytes).toString('base64url')}`;
  const lost = new Promise<void>((resolve) => client.once('end', resolve));
  client.on('error', (error) => log.debug({ err: error }, 'a jobs session broke'));
  await client.connect();

  /**
   * Sets the name of the session in the statement that inserts the row, so that no visible row lacks a session. The row
   * loses its session when the session ends or a pooler gives it to another client. The keepalive settings let Postgres
   * notice a vanished machine within 15 s instead of 2 hours.
   */
  async function register(poolId: string) {
    await client.query(
      `with named as materialized (
         select set_config('application_name', $2, false) as session,
                set_config('tcp_keepalives_idle', '5', false),
                set_config('tcp_keepalives_interval', '5', false),
                set_config('tcp_keepalives_count', '2', false)
       )
       insert into worker_pools (pool_id, session, session_role, program)
       select $1, session, session_user, $3
       from named`,
      [poolId, session, program],
    );
  }

  /**
   * Frees the jobs of pools whose process has died, and returns true if there were any. `alive` names our own pools,
   * which may outlive the session that registered them.
   */
  async function sweep(alive: ReadonlySet<string>): Promise<boolean> {
    const { rows } = await client.query<{ pool_id: string }>({
      name: 'sweep', // a prepared statement, because it runs every second
      text: `select pool_id
             from worker_pools
             where pool_id <> all($1) and not is_alive(worker_pools)`,
      values: [[...alive]],
    });
    if (rows.length === 0) return false;
    await free(rows.map((row) => row.pool_id));
    return true;
  }

  /** Deletes the rows last, so that another sweep retries after a failure. */
  async function free(poolIds: string[]) {
    await client.query('select graphile_worker.force_unlock_workers($1)', [poolIds]);
    await client.query('delete from worker_pools where pool_id = any($1)', [poolIds]);
  }

  return { lost, register, sweep, free, end: () => client.end().catch(() => {}) };
}
