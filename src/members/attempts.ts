import { createHash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { rateLimited } from '../signals.ts';

/** Wrong proofs: a day over all addresses, and in any 15 minutes for an account from one address and for an address. */
const mostOfAccountADay = 100;
const mostOfAccountFromAddress = 10;
const mostOfAddress = 60;

/** What a proof is given for: the same for an address without an account, so that nothing shows which have one. */
export type ProofOf = {
  /** An address of mail, or the id of a member that is signed in; null where the proof names no account. */
  account: string | null;
  address: string;
  /** Whether it counts for the day of the account: a password that is guessed, not a passkey. */
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
    const counted = await lockAttempts(tx, limits);
    const over = counted.filter(({ attempts }, at) => attempts >= limits[at]!.most);
    if (over.length > 0) throw tooMany(Math.max(...over.map((one) => one.resets_in_seconds)));
    await addAttempt(tx, subjects);
  });
  return () => giveBackAttempt(db, subjects);
}

/** In this order, which is the order in which they are locked. */
function limitsOf({ account, address, isGuessable = true }: ProofOf) {
  const ofAddress = { subject: hashed('address', address), perDay: false, most: mostOfAddress };
  if (account === null) return [ofAddress];
  const key = account.toLowerCase();
  const fromAddress = hashed('account', key, address);
  const limits = [
    { subject: hashed('day', key), perDay: true, most: mostOfAccountADay },
    { subject: fromAddress, perDay: false, most: mostOfAccountFromAddress },
    ofAddress,
  ];
  return isGuessable ? limits : limits.slice(1);
}

/** A table of wrong guesses must not become a list of addresses. */
const hashed = (...parts: string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

function tooMany(retryInSeconds: number): Refusal {
  rateLimited.publish({ by: 'address' });
  return new Refusal('rate_limited', 'There were too many attempts that failed.', {
    code: 'too_many_attempts',
    retryInSeconds,
  });
}

/** What attempts are counted by: `perDay` in days of UTC, else over the last 15 minutes at any moment. */
type CountedSubject = { subject: string; perDay: boolean };

type CountedAttempts = { attempts: number; resets_in_seconds: number };

const window = '15 minutes';

/**
 * How many attempts of subjects count now, in their order, locked until the transaction ends. They are locked in that
 * order, so all callers must name them in the same one. The clock decides, and not the start of the transaction, which
 * may have waited for the lock.
 */
async function lockAttempts(
  sql: Sql,
  subjects: readonly CountedSubject[],
): Promise<CountedAttempts[]> {
  const counted: CountedAttempts[] = [];
  for (const { subject, perDay } of subjects) {
    const [since, length] = perDay ? [startOfDay(sql), '1 day'] : [startOfWindow(sql), window];
    const oldest = perDay ? since : sql`coalesce(tried_at[1], clock_timestamp())`;
    const [row] = await sql<CountedAttempts[]>`
      insert into proof_attempts as p (subject, newest_at)
      values (${subject}, clock_timestamp())
      on conflict (subject) do update
        set tried_at = array(select t from unnest(p.tried_at) t where t > ${since} order by t),
            newest_at = excluded.newest_at
      returning cardinality(tried_at) as attempts,
                greatest(1, ceil(extract(epoch from ${oldest} + ${length}::interval - clock_timestamp())))::int
                  as resets_in_seconds`;
    counted.push(row!);
  }
  return counted;
}

const startOfDay = (sql: Sql) =>
  sql`date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC'`;

const startOfWindow = (sql: Sql) => sql`clock_timestamp() - ${window}::interval`;

async function addAttempt(sql: Sql, subjects: readonly string[]) {
  await sql`
    update proof_attempts
    set tried_at = tried_at || clock_timestamp()
    where subject = any(${subjects as string[]})`;
}

/** Gives an attempt back that turned out to be right: the newest, so that those that remain count no shorter. */
async function giveBackAttempt(sql: Sql, subjects: readonly string[]) {
  await sql`
    update proof_attempts p
    set tried_at = trim_array(p.tried_at, 1)
    from (
      select subject
      from proof_attempts
      where subject = any(${subjects as string[]}) and cardinality(tried_at) > 0
      order by array_position(${subjects as string[]}, subject)
      for update
    ) own
    where p.subject = own.subject`;
}

/** An attempt counts for a day at most; the rest is room for clocks that differ. */
export async function deleteOldAttempts(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from proof_attempts
    where subject in (
      select subject
      from proof_attempts
      where newest_at < now() - interval '2 days'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
