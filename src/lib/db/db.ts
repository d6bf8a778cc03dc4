import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';

/**
 * Transactions are `read committed`, whatever the database's default. Row locks and constraints decide races, so a
 * stricter level would only add serialization failures to retry.
 *
 *     const id = await inTransaction(db, async (tx) => { ... });
 */
export async function inTransaction<T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> {
  return await begin(db, 'isolation level read committed', work);
}

/** Runs a transaction again after a deadlock with another one that saves the same rows. */
export const inRetriedTransaction = <T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> =>
  retryWhile(isDeadlock, () => inTransaction(db, work));

const retryAfterMs = 250;
const retryForMs = 60_000;

export async function retryWhile<T>(
  passes: (error: unknown) => boolean,
  work: () => Promise<T>,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += retryAfterMs) {
    try {
      return await work();
    } catch (error) {
      if (!passes(error) || waitedMs >= retryForMs) throw error;
      await wait(retryAfterMs);
    }
  }
}

/** A read-only transaction: Postgres rejects writes. */
export async function inReadTransaction<T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> {
  return await begin(db, 'isolation level read committed read only', work);
}

/** The driver's type unwraps arrays of promises, which our transactions never return. */
const begin = <T>(db: Db, mode: string, work: (tx: Sql) => Promise<T>) =>
  db.begin(mode, work) as Promise<T>;

/** A pool or a transaction. Queries take this type, because they never begin a transaction. */
export type Sql = postgres.ISql;

export type Part = postgres.PendingQuery<postgres.Row[]>;

/** A pool, for code that begins transactions. */
export type Db = postgres.Sql;

const connectTimeoutSeconds = 5;

type PoolOptions = {
  connections: number;
  limits?: SessionLimits;
  program?: string;
  /** Opens connections when the URL names several servers. The driver would use the first one. */
  socket?: () => Promise<Socket>;
  idleSeconds?: number;
  /** Off behind a transaction pooler, where the next connection does not know the prepared statement. */
  prepare?: boolean;
  /** Off for connections that never use arrays. This saves a query for about 300 array types. */
  arrays?: boolean;
  onClose?: () => void;
};

export type SessionLimits = { statementMs: number; idleInTransactionMs: number };

/** Bounds how long a forgotten lock or a hung process can block everyone else. */
export const serviceLimits: SessionLimits = { statementMs: 60_000, idleInTransactionMs: 60_000 };

export function connect(url: string, options: PoolOptions): Db {
  const { connections, limits, program, socket, idleSeconds, prepare = true, onClose } = options;
  const { arrays = true } = options;
  const plain = listUrls(url)[0]!;
  const address = new URL(plain);
  // libpq and `pg` read the socket folder from `?host=`. postgres.js takes it only as an option.
  const folder = address.searchParams.get('host');
  address.searchParams.delete('host');
  return postgres(folder === null ? plain : address.href, {
    ...(folder !== null && { host: folder }),
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
      ...(limits && {
        statement_timeout: limits.statementMs,
        idle_in_transaction_session_timeout: limits.idleInTransactionMs,
      }),
    },
  });
}

/**
 * Hides a parameter's value from the planner. With a known time or offset, Postgres prefers custom plans and plans
 * every call again, which costs more than reading a page of a list.
 */
export const hideFromPlanner = (sql: Sql, value: Part): Part => sql`(select ${value})`;

/**
 * Sets the lock timeout of the transaction; 0 means no limit. A statement that joins this row sets the timeout before
 * it takes its first lock.
 */
export const lockTimeout = (sql: Sql, ms: number): Part =>
  sql`select set_config('lock_timeout', ${String(ms)}, true)`;

/**
 * A condition that is always true and makes the commit asynchronous. A power cut may lose the last second of commits. A
 * killed process loses nothing.
 */
export const asyncCommit = (sql: Sql): Part =>
  sql`set_config('synchronous_commit', 'off', true) is not null`;

export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

export function one<T>(rows: readonly T[]): T {
  if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
  return rows[0]!;
}

/** A value for a json column. The cast is safe for values that came from JSON.parse. */
export const json = (sql: Sql, value: object) => sql.json(value as postgres.JSONValue);

/** True if Postgres is starting, stopping or unreachable: the caller may retry, and a request gets a 503. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  if (code === 'ENOENT') return syscall === 'connect';
  if (isDatabaseFull(error)) return true;
  return typeof code === 'string' && (awayCodes.has(code) || code.startsWith('08'));
}

export function isDatabaseFull(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === diskFull || (code === internalError && message === noRoomToConnect);
}

/** Handles a full disk in a read that also writes, such as counting a request: repeats it without the write. */
export const whenDiskFull =
  <T>(readOnly: () => T) =>
  (error: unknown): T => {
    if (isDatabaseFull(error)) return readOnly();
    throw error;
  };

export const poolBusy = 'POOL_BUSY';
export const isPoolBusy = (error: unknown): boolean => codeOf(error) === poolBusy;

export const isDeadlock = (error: unknown): boolean => codeOf(error) === '40P01';

const codeOf = (error: unknown) => (error as { code?: unknown } | null)?.code;

export const violates = (error: unknown, constraint: string): boolean =>
  (error as { constraint_name?: unknown } | null)?.constraint_name === constraint;

const diskFull = '53100';
const internalError = 'XX000';
/** Postgres 15 rejects new connections with this internal error when its disk is full. */
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
  '25006', // became a standby
  'NO_WRITABLE_SERVER', // see servers.ts
]);

const maxHosts = 16;
/** With libpq's other targets, such as `any` and `standby`, the server may be read-only. */
const writableTargets = ['read-write', 'primary'];

/** Splits a URL around its hosts: `postgres://user:password@` `a:5432,b:5433` `/name?options`. */
const urlForm = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([/?#].*)?$/;

const onePerHost = 'must name each of several hosts as host or host:port, as in a:5432,b:5432';

const plainForm =
  'must be an address such as postgres://user:password@host:5432/name, with characters such as / # ? @ and blanks of the password percent-encoded (/ is %2F)';

export function validateDatabaseUrl(url: string): string | undefined {
  if (!urlForm.test(url)) return 'must be an address that begins with postgres:// or postgresql://';
  const { hosts, urls, options, target } = parts(url);
  const several = hosts.length > 1;
  if (urls.some((each) => !URL.canParse(each))) return several ? onePerHost : plainForm;
  if (several && hosts.includes('')) return onePerHost;
  if (hosts.length > maxHosts) return `must name at most ${maxHosts} hosts`;
  const socket = options.get('host');
  if (socket !== null && (several || socket.includes(',')))
    return 'must name several hosts before the name of the database, and not in ?host=';
  if (target !== null && !writableTargets.includes(target))
    return `must have target_session_attrs=read-write, and not ${target || 'an empty one'}: only there can it be written`;
  return undefined;
}

/** One URL for each host, without `target_session_attrs`. */
export function listUrls(url: string): string[] {
  return parts(url).urls;
}

/** True if the URL names several hosts or a target. Then some or all of the servers may be read-only. */
export function needsWritableServer(url: string): boolean {
  const { hosts, target } = parts(url);
  return hosts.length > 1 || target !== null;
}

function parts(url: string) {
  const [, before = '', list = '', after = ''] = urlForm.exec(url) ?? [];
  const hosts = list.split(',');
  const at = after.indexOf('?');
  const options = new URLSearchParams(at === -1 ? '' : after.slice(at));
  const target = options.get('target_session_attrs');
  options.delete('target_session_attrs');
  // Without a target, the URL stays as it was written: URLSearchParams would re-encode it.
  const rest =
    target === null ? after : `${after.slice(0, at)}${options.size > 0 ? `?${options}` : ''}`;
  return { hosts, options, target, urls: hosts.map((host) => `${before}${host}${rest}`) };
}

export const likePattern = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
