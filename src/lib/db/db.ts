import type { Socket } from 'node:net';
import postgres from 'postgres';

/**
 * The one place where transactions begin. They are `read committed`, whatever the database's default:
 * the statements lock the rows that they decide on, and constraints decide races, so that a stricter level
 * would only add failures to repeat. How long a statement may take and a transaction may stay idle is set
 * for the whole connection, by `connect`, which costs no round trip.
 *
 *     const id = await inTransaction(db, async (tx) => { ... });
 */
export async function inTransaction<T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> {
  return await begin(db, 'isolation level read committed', work);
}

/** The same for a transaction that only reads: Postgres refuses a statement that writes. */
export async function inReadTransaction<T>(db: Db, work: (tx: Sql) => Promise<T>): Promise<T> {
  return await begin(db, 'isolation level read committed read only', work);
}

/** The driver's type unwraps arrays of promises, which no transaction of ours returns. */
const begin = <T>(db: Db, mode: string, work: (tx: Sql) => Promise<T>) =>
  db.begin(mode, work) as Promise<T>;

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
  program?: string;
  /** Makes connections, when the address names several servers; the driver makes them to the first. */
  socket?: () => Promise<Socket>;
  idleSeconds?: number;
  /** Off behind a pooler that gives each transaction another connection, which does not know the statement. */
  prepare?: boolean;
  /**
   * Off for connections that neither send nor read arrays: they do not ask for the some 300 types of those before their
   * first statement.
   */
  arrays?: boolean;
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
  const plain = listUrls(url)[0]!;
  const address = new URL(plain);
  // libpq and `pg` read a socket's folder from `?host=`; postgres.js takes it only as an option.
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
 * A value of which the planner knows only the type. A value that it knows (a time, an offset) can make the plan look
 * so much cheaper that Postgres plans at each call again, which costs more than reading a page of a list.
 */
export const hideFromPlanner = (sql: Sql, value: Part): Part => sql`(select ${value})`;

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
export const asyncCommit = (sql: Sql): Part =>
  sql`set_config('synchronous_commit', 'off', true) is not null`;

/** A statement gave up because a lock was not free within the time of `lockTimeout`. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

export function one<T>(rows: readonly T[]): T {
  if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
  return rows[0]!;
}

/** Deletes the rows that meet a condition, some at a time, so that no transaction becomes long. */
export async function deleteInBatches(sql: Sql, table: string, condition: Part, batch = 1000) {
  for (;;) {
    const { count } = await sql`
      delete from ${sql(table)}
      where ctid = any(array(
        select ctid from ${sql(table)} where ${condition} limit ${batch} for update skip locked
      ))`;
    if (count < batch) return;
  }
}

/** A value for a json column. The cast is safe for a value that came out of JSON.parse. */
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

export function isDatabaseFull(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === diskFull || (code === internalError && message === noRoomToConnect);
}

/** For a read that also writes a note, such as a count of requests: a full disk leaves out the note, not the read. */
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

const mostHosts = 16;
/** A target that this service can work with: libpq's `any` and `standby` may lead to a server that takes no writes. */
const writableTargets = ['read-write', 'primary'];

/** Splits an address at its hosts: `postgres://user:password@` `a:5432,b:5433` `/name?options`. */
const form = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([/?#].*)?$/;

const onePerHost = 'must name each of several hosts as host or host:port, as in a:5432,b:5432';

const plainForm =
  'must be an address such as postgres://user:password@host:5432/name, with characters such as / # ? @ and blanks of the password percent-encoded (/ is %2F)';

export function validateDatabaseUrl(url: string): string | undefined {
  if (!form.test(url)) return 'must be an address that begins with postgres:// or postgresql://';
  const { hosts, urls, options, target } = parts(url);
  const several = hosts.length > 1;
  if (urls.some((each) => !URL.canParse(each))) return several ? onePerHost : plainForm;
  if (several && hosts.includes('')) return onePerHost;
  if (hosts.length > mostHosts) return `must name at most ${mostHosts} hosts`;
  const socket = options.get('host');
  if (socket !== null && (several || socket.includes(',')))
    return 'must name several hosts before the name of the database, and not in ?host=';
  if (target !== null && !writableTargets.includes(target))
    return `must have target_session_attrs=read-write, and not ${target || 'an empty one'}: only there can it be written`;
  return undefined;
}

/** One address for each host that an address names, without the choice between them. */
export function listUrls(url: string): string[] {
  return parts(url).urls;
}

/** Whether one of several servers, or none, may be the one that takes writes. */
export function needsWritableServer(url: string): boolean {
  const { hosts, target } = parts(url);
  return hosts.length > 1 || target !== null;
}

function parts(url: string) {
  const [, before = '', list = '', after = ''] = form.exec(url) ?? [];
  const hosts = list.split(',');
  const at = after.indexOf('?');
  const options = new URLSearchParams(at === -1 ? '' : after.slice(at));
  const target = options.get('target_session_attrs');
  options.delete('target_session_attrs');
  // An address that has no choice to take out stays as it is, letter by letter.
  const rest =
    target === null ? after : `${after.slice(0, at)}${options.size > 0 ? `?${options}` : ''}`;
  return { hosts, options, target, urls: hosts.map((host) => `${before}${host}${rest}`) };
}

export const likePattern = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
