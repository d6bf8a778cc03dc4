import { createHash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { rateLimited } from '../signals.ts';
import { addAttempt, giveBackAttempt, lockAttempts } from './attempts.queries.ts';

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
