import { createHash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { rateLimited } from '../signals.ts';

/** Maximum failed attempts. The first limit holds for a day, the others for `window`. */
const maxPerAccountAndDay = 100;
const maxPerAccountAndAddress = 10;
const maxPerAddress = 60;
const window = '15 minutes';

type Proof = {
  /** An email address (with or without an account) or a member's id; null if the proof names no account. */
  account: string | null;
  address: string;
  /** False for a proof that cannot be guessed, such as a recovery code. It has no daily limit. */
  isGuessable?: boolean;
};

/**
 * Counts an attempt before it is checked, so that concurrent attempts in all processes stay within the limit. The
 * returned function uncounts the attempt if the proof was right.
 */
export async function countProof(db: Db, proof: Proof): Promise<() => Promise<void>> {
  const limits = limitsOf(proof);
  const subjects = limits.map(({ subject }) => subject);
  await inTransaction(db, async (tx) => {
    let retryInSeconds = 0;
    for (const limit of limits) {
      const { attempts, resets_in_seconds } = await lockAttempts(tx, limit);
      if (attempts >= limit.max) retryInSeconds = Math.max(retryInSeconds, resets_in_seconds);
    }
    if (retryInSeconds > 0) {
      rateLimited.publish({ by: 'address' });
      throw new Refusal('rate_limited', 'Too many failed attempts.', {
        code: 'too_many_attempts',
        retryInSeconds,
      });
    }
    await tx`
      update proof_attempts
      set tried_at = tried_at || clock_timestamp()
      where subject = any(${subjects})`;
  });
  // Remove the newest attempt, because an older one would expire sooner.
  return async () => {
    await db`
      update proof_attempts p
      set tried_at = trim_array(p.tried_at, 1)
      from (
        select subject
        from proof_attempts
        where subject = any(${subjects}) and cardinality(tried_at) > 0
        order by array_position(${subjects}, subject)
        for update
      ) own
      where p.subject = own.subject`;
  };
}

type Limit = { subject: string; perDay: boolean; max: number };

/** All callers lock the limits in this order, which avoids deadlocks. */
function limitsOf({ account, address, isGuessable = true }: Proof): Limit[] {
  const perAddress = { subject: hashed('address', address), perDay: false, max: maxPerAddress };
  if (account === null) return [perAddress];
  const key = account.toLowerCase();
  const fromAddress = hashed('account', key, address);
  const limits = [
    { subject: hashed('day', key), perDay: true, max: maxPerAccountAndDay },
    { subject: fromAddress, perDay: false, max: maxPerAccountAndAddress },
    perAddress,
  ];
  return isGuessable ? limits : limits.slice(1);
}

/** Hashed, so that the table does not become a list of addresses. */
const hashed = (...parts: string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/**
 * Locks the attempts of a subject until the transaction ends, and drops expired ones. Uses clock_timestamp(), because
 * the transaction may have waited for the lock. Days are in UTC.
 */
async function lockAttempts(tx: Sql, { subject, perDay }: Limit) {
  const since = perDay
    ? tx`date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC'`
    : tx`clock_timestamp() - ${window}::interval`;
  const oldest = perDay ? since : tx`coalesce(tried_at[1], clock_timestamp())`;
  const length = perDay ? '1 day' : window;
  const [row] = await tx<{ attempts: number; resets_in_seconds: number }[]>`
    insert into proof_attempts as p (subject, newest_at)
    values (${subject}, clock_timestamp())
    on conflict (subject) do update
      set tried_at = array(select t from unnest(p.tried_at) t where t > ${since} order by t),
          newest_at = excluded.newest_at
    returning cardinality(tried_at) as attempts,
              greatest(1, ceil(extract(epoch from ${oldest} + ${length}::interval - clock_timestamp())))::int
                as resets_in_seconds`;
  return row!;
}
