// Steps of migrations, done by one process at a time while the service serves.

import pg from 'pg';
import type { StepSession } from '../db/migrate-step.ts';
import { type QueueAddress, urlOf } from '../queue/connections.ts';

const lockName = 'migration steps';
const connectTimeoutMs = 5000;

/**
 * One connection that holds the lease and does the work: when the lease is lost, the batch in flight is undone with it.
 * It is never made again behind the back of its user.
 */
export type StepLease = {
  session: StepSession;
  /** Whether no other process has the lease. */
  take: () => Promise<boolean>;
  isLost: () => boolean;
  /** Gives up a statement in flight. */
  end: () => Promise<void>;
};

export async function openStepSession(address: QueueAddress, program: string): Promise<StepLease> {
  const client = new pg.Client({
    connectionString: await urlOf(address),
    ...(address.servers && { stream: address.servers.stream }),
    application_name: `${program} migration steps`,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  let isLost = false;
  client.on('error', () => {
    isLost = true;
  });
  client.once('end', () => {
    isLost = true;
  });
  await client.connect();
  const session: StepSession = async (text, values = []) => {
    const { rows } = await client.query(text, [...values]).catch((error: { code?: string }) => {
      // Only what Postgres says has a code.
      isLost ||= error.code === undefined;
      throw error;
    });
    return rows;
  };
  await session(limits);
  return {
    session,
    isLost: () => isLost,
    async take() {
      const [row] = await session<{ taken: boolean }>(
        `select pg_try_advisory_lock(hashtext('${lockName}')) as taken`,
      );
      return row?.taken ?? false;
    },
    end: () => client.end().catch(() => {}),
  };
}

/**
 * A process that vanishes gives its lease back within seconds: Postgres looks whether the connection of a statement is
 * still there, and finds a dead machine in 15 s. Building an index takes as long as it takes; batches have a limit of
 * their own.
 */
const limits = `
  select set_config('statement_timeout', '0', false),
         set_config('TimeZone', 'UTC', false),
         set_config('client_connection_check_interval', '1s', false),
         set_config('tcp_keepalives_idle', '5', false),
         set_config('tcp_keepalives_interval', '5', false),
         set_config('tcp_keepalives_count', '2', false)`;
