import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../log/log.ts';
import { type QueueAddress, urlOf } from './connections.ts';

const tryAgainMs = 250;
/** Short, because each row that is claimed carries the name. */
const idBytes = 6;
/** Longer than any healthy answer; a session that is silent for so long counts as lost. */
const answerTimeoutMs = 5000;

/**
 * A name that lives as long as this process can reach Postgres, for work that no job holds. When its
 * connection breaks the name dies, with all that was taken in it, and there is a new one.
 */
export async function holdLease(address: QueueAddress, log: Log, program: string) {
  const begin = () => beginLease(address, log, program);
  let stopping = false;
  let current = await begin();

  const living = (async () => {
    while (!stopping) {
      await current.session.lost;
      while (!stopping) {
        const next = await begin().catch(() => undefined);
        if (next) current = next;
        if (next) break;
        await sleep(tryAgainMs);
      }
    }
  })();

  return {
    /** The name in which this process claims work. What has this name is free again when it has died. */
    id: () => current.id,
    async stop() {
      stopping = true;
      await current.session.free(current.id);
      await living;
    },
  };
}

async function beginLease(address: QueueAddress, log: Log, program: string) {
  const session = await openSession(address, log, program);
  const id = `lease-${randomBytes(idBytes).toString('base64url')}`;
  await session.register(id).catch(async (error) => {
    await session.end();
    throw error;
  });
  return { id, session };
}

export type Session = Awaited<ReturnType<typeof openSession>>;

/**
 * A connection of its own that holds the advisory lock of a worker pool, or of a lease. When the process dies,
 * however it dies, Postgres lets go of the lock, and the process that then gets it may free the pool's jobs.
 */
export async function openSession(address: QueueAddress, log: Log, program: string) {
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
    register: (poolId: string) => register(client, poolId, program),
    /** Frees the jobs of pools whose process has died; tells if there were any. */
    sweep: (alive: ReadonlySet<string>) => sweep(client, [...alive]),
    /** Frees what the pool still holds and ends. If that fails, somebody's sweep does it. */
    async free(poolId: string) {
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
