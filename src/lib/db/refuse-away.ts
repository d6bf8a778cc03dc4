import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, isDatabaseAway, isDatabaseFull } from './db.ts';
import { intercept } from './fair-pool.ts';

const askAgainMs = 200;

/**
 * The same pool, which refuses statements at once while its database is away, with the error that says so. They would
 * pile up, and their callers would have gone when the database is back: then it would work for them first. The
 * pool is asked until it answers again. One lost connection is no outage: only one that cannot be made again is.
 */
export function refuseWhileAway(pool: Db): Db {
  let away: unknown;
  let isAsking = false;

  async function askUntilBack() {
    if (isAsking) return;
    isAsking = true;
    for (;;) {
      away = await pool`select 1`.then(
        () => undefined,
        (error: unknown) => (isOutage(error) ? error : undefined),
      );
      if (away === undefined) break;
      await sleep(askAgainMs, undefined, { ref: false });
    }
    isAsking = false;
  }

  const look = (error: unknown) => {
    if (isOutage(error)) void askUntilBack();
  };

  const refusing = intercept(pool, (query, send) => {
    if (away !== undefined) return query.reject(away);
    query.catch(look);
    return send(query);
  });

  async function begin(...given: unknown[]) {
    if (away !== undefined) throw away;
    const beginAll = pool.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    try {
      return await beginAll(...given);
    } catch (error) {
      look(error);
      throw error;
    }
  }

  return Object.assign(refusing, pool, { begin }) as unknown as Db;
}

/** A pool that was closed is not asked again, and a server without room answers. */
const isOutage = (error: unknown) =>
  isDatabaseAway(error) &&
  !isDatabaseFull(error) &&
  (error as { code?: unknown }).code !== 'CONNECTION_ENDED';
