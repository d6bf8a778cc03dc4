import { Refusal } from '../errors.ts';
import { runAbortable } from '../lib/db/abortable.ts';
import type { Db, Sql } from '../lib/db/db.ts';

/** A search for one or two letters has no index that helps: it reads every comment of the organization. */
const searchLimitMs = 10_000;

/** Runs a search until it takes too long or its caller is gone. */
export async function runSearch<T>(
  db: Db,
  callerGone: AbortSignal,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const tooLong = AbortSignal.timeout(searchLimitMs);
  try {
    return await runAbortable(db, AbortSignal.any([callerGone, tooLong]), work);
  } catch (error) {
    if (tooLong.aborted && error === tooLong.reason) throw tooSlow();
    if (callerGone.aborted && error === callerGone.reason) throw givenUp();
    throw error;
  }
}

const tooSlow = () =>
  new Refusal(
    'unprocessable',
    `the search took longer than ${searchLimitMs / 1000} seconds: search for more letters, or in a shorter range of dates`,
    { code: 'search_too_slow' },
  );

const givenUp = () => new Refusal('invalid', 'the caller gave up this request');
