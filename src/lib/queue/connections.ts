import pg from 'pg';
import type { Log } from '../log/log.ts';

/** For one fetch, one batch of outcomes, the listener and the crontab at the same time. */
const connections = 4;
const connectTimeoutMs = 5000;

/** Graphile's own connections. Tasks use the application's. */
export function openConnections(url: string, log: Log): Connections {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'askback jobs',
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  // Without these two, a connection that breaks ends the process.
  const logBroken = (error: Error) => log.debug({ err: error }, 'a jobs connection broke');
  pool.on('error', logBroken);
  pool.on('connect', (client) => client.on('error', logBroken));

  return { pool, holdUntil: gate(pool) };
}

export type Connections = {
  pool: pg.Pool;
  /** Gives out no connection before the promise resolves, and none ever if it rejects. */
  holdUntil: (ready: Promise<void>) => void;
};

type Callback = Parameters<pg.Pool['connect']>[0];

function gate(pool: pg.Pool): Connections['holdUntil'] {
  let open: Promise<void> = Promise.resolve();
  const connect = pool.connect.bind(pool);

  function connectWhenOpen(callback?: Callback) {
    if (!callback) return open.then(() => connect());
    open.then(
      () => connect(callback),
      (error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }
  pool.connect = connectWhenOpen as pg.Pool['connect'];

  return (ready) => {
    open = ready;
    open.catch(() => {}); // thrown to the caller that asks for a connection
  };
}
