import { createHash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { rateLimited } from '../signals.ts';

/** Wrong proofs: a day over all addresses, and in any 15 minutes for an account from one address and for an address. */
const maxPerAccountAndDay = 100;
const maxPerAccountAndAddress = 10;
const maxPerAddress = 60;
const window = '15 minutes';

type ProofOf = {
  /** An email address, with or without an account, or a member's id; null where the proof names no account. */
  account: string | null;
  address: string;
  /** False for a proof that cannot be guessed, such as a passkey: it does not count for the day of the account. */
  isGuessable?: boolean;
};

/**
 * Counts an attempt before it is checked, so that any number of attempts at once, in any process, stay below the limit.
 * Returns how to give it back when the proof was right.
 */
export async function countProof(db: Db, proof: ProofOf): Promise<() => Promise<void>> {
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
      throw new Refusal('rate_limited', 'There were too many attempts that failed.', {
        code: 'too_many_attempts',
        retryInSeconds,
      });
    }
    await tx`
      update proof_attempts
      set tried_at = tried_at || clock_timestamp()
      where subject = any(${subjects})`;
  });
  // Removes the newest attempt, so that the others count no shorter.
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

/** The limits in the order in which all callers lock them. */
function limitsOf({ account, address, isGuessable = true }: ProofOf): Limit[] {
  const ofAddress = { subject: hashed('address', address), perDay: false, max: maxPerAddress };
  if (account === null) return [ofAddress];
  const key = account.toLowerCase();
  const fromAddress = hashed('account', key, address);
  const limits = [
    { subject: hashed('day', key), perDay: true, max: maxPerAccountAndDay },
    { subject: fromAddress, perDay: false, max: maxPerAccountAndAddress },
    ofAddress,
  ];
  return isGuessable ? limits : limits.slice(1);
}

/** A table of wrong guesses must not become a list of addresses. */
const hashed = (...parts: string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/**
 * Locks the attempts of a subject until the transaction ends, and drops those that count no more. The clock decides,
 * and not the start of the transaction, which may have waited for the lock. A day is one of UTC.
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
