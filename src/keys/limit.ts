import { Refusal } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { rateLimited } from '../signals.ts';
import { countSubject, type RateCount } from './rate-windows.queries.ts';

type AddressLimit = { what: 'share'; address: string; quota: number };

/**
 * Counts one request of an address for `what` against its clock minute, exactly
 * across processes, and refuses it when that is one too many.
 */
export async function limitAddress(sql: Sql, { what, address, quota }: AddressLimit) {
  const count = await countSubject(sql, `${what}:${address}`);
  if (count.used > quota) {
    rateLimited.publish({ by: what });
    throw overLimit(quota, count);
  }
}

export function overLimit(quota: number, { resets_in_seconds }: RateCount): Refusal {
  const message = `rate limit exceeded: max ${quota} requests per minute`;
  return new Refusal('rate_limited', message, { retryInSeconds: resets_in_seconds });
}
