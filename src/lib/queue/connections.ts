import pg from 'pg';
import type { Servers } from '../db/servers.ts';
import type { Log } from '../log/log.ts';

/** For one fetch, one batch of outcomes, the listener and the crontab at the same time. */
const connections = 4;
const connectTimeoutMs = 5000;
/** Longer than the time between two polls: to make a connection costs both sides more than a poll. */
const idleMs = 30_000;

/** Where the queue is: one server, or the one of several that takes writes. */
export type QueueAddress = { url: string; servers?: Servers | undefined };

/** Graphile's own connections. Tasks use the application's. */
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
  // Without these two, a connection that breaks ends the process.
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

  /** Gives out no connection before the promise resolves, and none ever if it rejects. */
  function holdUntil(ready: Promise<void>) {
    open = ready;
    open.catch(() => {}); // thrown to the caller that asks for a connection
  }
  return { pool, holdUntil };
}

type Callback = Parameters<pg.Pool['connect']>[0];
type Release = (error?: Error | boolean) => void;

/**
 * Graphile gives its listener back once at its end, and again if the connection then breaks before it listens.
 * The pool throws at the second time, where no caller can catch it.
 */
function atMostOnce(release: Release | undefined): Release {
  let released = false;
  return (error) => {
    if (released) return;
    released = true;
    release?.(error); // without a connection the pool gives none
  };
}

export const urlOf = async ({ url, servers }: QueueAddress): Promise<string> =>
  servers ? await servers.url() : url;

/** Messages of node-postgres for a connection that is lost, closed or not made in time. They have no code. */
const lostConnection =
  /^(Connection terminated|timeout e|Query read timeout|Client (has encountered a connection error|was closed)|Cannot use a pool after)/;

export const isLostConnection = (error: unknown): boolean =>
  error instanceof Error && lostConnection.test(error.message);
