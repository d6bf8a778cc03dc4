import pg from 'pg';
import type { Servers } from '../db/servers.ts';
import type { Log } from '../log/log.ts';

/** One each for fetching, completing, the listener and cron. */
const connections = 4;
const connectTimeoutMs = 5000;
/** Longer than the poll interval, because a new connection costs more than a poll. */
const idleMs = 30_000;

/** One server, or the writable one of several. */
export type QueueAddress = { url: string; servers?: Servers | undefined };

/** Graphile's own connections. Tasks use the pool of the service. */
export function openConnections(address: QueueAddress, log: Log) {
  const pool = new pg.Pool({
    connectionString: address.url,
    ...(address.servers && { stream: address.servers.stream }),
    application_name: 'askback jobs',
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleMs,
    keepAlive: true,
  });
  // These listeners keep a broken connection from ending the process.
  const logBroken = (error: Error) => log.debug({ err: error }, 'a jobs connection broke');
  pool.on('error', logBroken);
  pool.on('connect', (client) => client.on('error', logBroken));

  let open: Promise<void> = Promise.resolve();
  const connect = pool.connect.bind(pool);

  async function choose() {
    await open;
    pool.options.connectionString = await urlOf(address);
  }

  function connectWhenOpen(callback?: Callback) {
    if (!callback) return choose().then(() => connect());
    choose().then(
      () => connect((error, client, release) => callback(error, client, atMostOnce(release))),
      (error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }
  pool.connect = connectWhenOpen as pg.Pool['connect'];

  /** Gives out no connection before the promise resolves. */
  function holdUntil(ready: Promise<void>) {
    open = ready;
    open.catch(() => {}); // callers of `connect` get the error
  }
  return { pool, holdUntil };
}

type Callback = Parameters<pg.Pool['connect']>[0];
type Release = (error?: Error | boolean) => void;

/** Graphile may release its listener twice, and the pool would throw where no caller can catch it. */
function atMostOnce(release: Release | undefined): Release {
  let released = false;
  return (error) => {
    if (released) return;
    released = true;
    release?.(error); // undefined if the pool had no connection
  };
}

export const urlOf = async ({ url, servers }: QueueAddress): Promise<string> =>
  servers ? await servers.url() : url;

/** node-postgres has no codes for lost, closed or late connections. */
const lostConnection =
  /^(Connection terminated|timeout e|Query read timeout|Client (has encountered a connection error|was closed)|Cannot use a pool after)/;

export const isLostConnection = (error: unknown): boolean =>
  error instanceof Error && lostConnection.test(error.message);
