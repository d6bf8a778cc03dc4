// Postgres: the pool and its limits, transactions, migrations, fair use of connections, and which errors mean an outage.

import type { Socket } from 'node:net';
import postgres from 'postgres';
import { listUrls } from './database-url.ts';

/** What a query asks for: a pool or a transaction, whichever the caller holds. It can begin neither. */
export type Sql = postgres.ISql;

/** Part of a statement: what is built in brings its parameters with it. */
export type Part = postgres.PendingQuery<postgres.Row[]>;

/** What a flow asks for: the pool, the one thing a transaction can begin on. */
export type Db = postgres.Sql;

const connectTimeoutSeconds = 5;

type PoolOptions = {
  connections: number;
  limits?: SessionLimits;
  /** The name of the connections, as Postgres shows it. */
  program?: string;
  /** Makes connections, when the address names several servers; the driver makes them to the first. */
  socket?: () => Promise<Socket>;
  /** After so long without a statement a connection ends. */
  idleSeconds?: number;
  /** Off behind a pooler that gives each transaction another connection, which does not know the statement. */
  prepare?: boolean;
  /**
   * Off for connections that neither send nor read arrays: they do not ask for the some 300 types of those before their
   * first statement.
   */
  arrays?: boolean;
  /** Called when a connection has ended, however it ended. */
  onClose?: () => void;
};

export type SessionLimits = { statementMs: number; idleInTransactionMs: number };

/**
 * For a service. A statement that waits this long waits for a lock that is held by mistake or by hand, and
 * a transaction that is idle this long belongs to a process that hangs: both would hold up all others.
 */
export const serviceLimits: SessionLimits = { statementMs: 60_000, idleInTransactionMs: 60_000 };

export function connect(url: string, options: PoolOptions): Db {
  const { connections, limits, program, socket, idleSeconds, prepare = true, onClose } = options;
  const { arrays = true } = options;
  const { address, folder } = splitSocket(listUrls(url)[0]!);
  return postgres(address, {
    ...folder,
    // Not in the driver's types.
    ...(socket && { socket }),
    ...(idleSeconds && { idle_timeout: idleSeconds }),
    max: connections,
    prepare,
    fetch_types: arrays,
    ...(onClose && { onclose: onClose }),
    connect_timeout: connectTimeoutSeconds,
    backoff: () => 0.2,
    onnotice: () => {},
    connection: {
      ...(program && { application_name: program }),
      TimeZone: 'UTC',
      // With the connection itself, so that they cost no statement.
      ...(limits && {
        statement_timeout: limits.statementMs,
        idle_in_transaction_session_timeout: limits.idleInTransactionMs,
      }),
    },
  });
}

/** libpq and `pg` read a socket's folder from `?host=`; postgres.js takes it only as an option. */
function splitSocket(url: string) {
  const parsed = new URL(url);
  const host = parsed.searchParams.get('host');
  parsed.searchParams.delete('host');
  return host === null ? { address: url } : { address: parsed.href, folder: { host } };
}

/**
 * A value of which the planner knows only the type. A value that it knows (a time, an offset) can make the plan look
 * so much cheaper that Postgres plans at each call again, which costs more than reading a page of a list.
 */
export const opaque = (sql: Sql, value: Part): Part => sql`(select ${value})`;

/**
 * One row that limits how long each lock is waited for until the transaction ends; 0 is no limit. A statement that
 * takes its rows from this one too has no lock before.
 */
export const lockTimeout = (sql: Sql, ms: number): Part =>
  sql`select set_config('lock_timeout', ${String(ms)}, true)`;

/**
 * A condition that always holds, after which the commit does not wait for the disk: a power cut may take what was
 * committed in its last second, a kill takes nothing.
 */
export const commitsSoon = (sql: Sql): Part =>
  sql`set_config('synchronous_commit', 'off', true) is not null`;

/** Whether a statement gave up because a lock was not free within the time of `lockTimeout`. */
export const isLockTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === '55P03';

/** The row that a query by key must have found. */
export function one<T>(rows: readonly T[]): T {
  if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
  return rows[0]!;
}

/** A value for a json column. The cast is safe for what came out of JSON.parse. */
export const json = (sql: Sql, value: object) => sql.json(value as postgres.JSONValue);

/**
 * Whether an error means that Postgres is not there (starting, stopping, unreachable) rather than that
 * it said no: the caller may try again, and a request is answered 503.
 */
export function isDatabaseAway(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (code === 'ENOENT') return syscall === 'connect';
  if (isDatabaseFull(error)) return true; // until there is room again
  return typeof code === 'string' && (awayCodes.has(code) || code.startsWith('08'));
}

/** Whether Postgres could not store something because its disk is full. It goes on to read. */
export function isDatabaseFull(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === diskFull || (code === internalError && message === noRoomToConnect);
}

/** Whether a statement waited too long for its turn in the pool, and did not begin. */
export const isPoolBusy = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === poolBusy;

export const poolBusy = 'POOL_BUSY';

/** Whether a transaction was undone because it and another waited for each other. */
export const isDeadlock = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === '40P01';

/** Whether a statement failed on the constraint or unique index of this name. */
export const violates = (error: unknown, constraint: string): boolean =>
  (error as { constraint_name?: unknown } | null)?.constraint_name === constraint;

const diskFull = '53100';
const internalError = 'XX000';
/** What Postgres 15 says of a new connection when its disk is full, under the code of its own faults. */
const noRoomToConnect = 'could not write init file';

const awayCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  '57P01', // terminated by an administrator
  '57P02', // another backend crashed
  '57P03', // starting up or shutting down
  '53300', // too many connections
  '25006', // became a standby: connections to it end soon
  'NO_WRITABLE_SERVER', // of several
  'CALLER_GONE', // before its statement began
]);
