import type { Context } from 'hono';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { readSessionHash } from '../sessions/cookie.ts';
import { findAwaitingCode } from '../sessions/queries.ts';
import { countProof } from './attempts.ts';
import { checkSecondStep } from './codes/codes.ts';
import { findCredentialsById } from './queries.ts';
import { beginMemberSession, type SignInTools } from './sign-in.ts';

export type SecondStepTools = SignInTools & { secrets: Secrets };

/** The member whose password was right in this browser, and who has yet to give a code. */
export async function awaitedMember(
  { db, publicUrl }: SignInTools,
  c: Context,
): Promise<{ memberId: string } | undefined> {
  const hash = readSessionHash(c, publicUrl);
  return hash && (await findAwaitingCode(db, hash));
}

/** Takes the second step; a wrong one counts like a wrong password. Returns whether it was right. */
export async function signInByCode(
  tools: SecondStepTools,
  c: Context,
  { memberId, typed }: { memberId: string; typed: string },
): Promise<boolean> {
  const { db, publicUrl } = tools;
  const giveBack = await countProof(db, { account: `code ${memberId}`, address: clientAddress(c) });
  if (!(await checkSecondStep(tools, memberId, typed))) return false;
  await giveBack();
  return await inTransaction(db, async (tx) => {
    const member = await findCredentialsById(tx, memberId);
    if (!member) return false;
    await beginMemberSession(tx, c, { publicUrl, member, by: 'code' });
    return true;
  });
}
