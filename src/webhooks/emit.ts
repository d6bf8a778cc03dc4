import type { Sql } from '../lib/db/db.ts';
import type { Told } from './emission.cte.ts';
import { insertDeliveries } from './emit.queries.ts';

/**
 * Tells every subscribed webhook of the organization: a delivery each, in the caller's transaction, so
 * that an event exists if, and only if, what it tells of was committed. Call the pump after the commit.
 */
export async function emit(sql: Sql, told: Told) {
  if (told.events.length > 0) await insertDeliveries(sql, told);
}
