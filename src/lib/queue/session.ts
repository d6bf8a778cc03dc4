import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Log } from '../log/log.ts';
import { type QueueAddress, urlOf } from './connections.ts';

/** Longer than any healthy answer; a session that is silent for so long counts as lost. */
const answerTimeoutMs = 5000;

/**
 * The lease of one worker pool: a connection of its own that holds the pool's advisory lock.
 * When the process dies, however it dies, Postgres lets go of the lock, and the process that then gets it may
 * free the pool's jobs.
 */
export type Session = {
  /** Resolves when the connection is gone, whichever side ended it. */
  lost: Promise<void>;
  register: (poolId: string) => Promise<void>;
  /** Frees the jobs of pools whose process has died; says whether there were any. */
  sweep: (alive: ReadonlySet<string>) => Promise<boolean>;
  /** Frees what the pool still holds and ends. If that fails, somebody's sweep does it. */
  free: (poolId: string) => Promise<void>;
  end: () => Promise<void>;
};

export async function openSession(
  address: QueueAddress,
  log: Log,
  program: string,
): Promise<Session> {
  const client = new pg.Client({
    connectionString: await urlOf(address),
    ...(address.servers && { stream: address.servers.stream }),
    application_name: `${program} jobs session`,
    connectionTimeoutMillis: answerTimeoutMs,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
  });
  const lost = new Promise<void>((resolve) => client.once('end', resolve));
  client.on('error', (error) => log.debug({ err: error }, 'a jobs session broke'));
  await client.connect();

  const end = () => client.end().catch(() => {});

  return {
    lost,
    end,
    register: (poolId) => register(client, poolId, program),
    sweep: (alive) => sweep(client, [...alive]),
    async free(poolId) {
      await free(client, [poolId]).catch((error) => {
        log.debug({ err: error }, 'a worker pool could not be freed, a sweep will do it');
      });
      await end();
    },
  };
}

/**
 * The lock with the row: a row that others can see always belongs to a lock that is held. A machine that vanishes
 * closes no connection: Postgres finds out in 15 s instead of 2 hours.
 */
async function register(client: pg.Client, poolId: string, program: string) {
  const lockKey = randomBytes(8).readBigInt64BE();
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
    [poolId, lockKey, program],
  );
}

/** The lock of a pool of our own must not be tried: a session gets its own lock again at once. */
async function sweep(client: pg.Client, alive: string[]): Promise<boolean> {
  const { rows } = await client.query<{ pool_id: string; lock_key: string; dead: boolean }>({
    name: 'sweep', // prepared once: it is asked every few seconds
    text: `select pool_id, lock_key, pg_try_advisory_lock(lock_key) as dead
     from worker_pools
     where pool_id <> all($1)`,
    values: [alive],
  });
  const dead = rows.filter((row) => row.dead);
  if (dead.length === 0) return false;

  await free(
    client,
    dead.map((row) => row.pool_id),
  );
  await client.query('select pg_advisory_unlock(key) from unnest($1::bigint[]) as key', [
    dead.map((row) => row.lock_key),
  ]);
  return true;
}

/** The jobs first: as long as the row exists, somebody will try again. */
async function free(client: pg.Client, poolIds: string[]) {
  await client.query('select graphile_worker.force_unlock_workers($1)', [poolIds]);
  await client.query('delete from worker_pools where pool_id = any($1)', [poolIds]);
}
