import type { Context } from 'hono';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { beginSession, endSession } from '../sessions/begin.ts';
import { renewProof } from '../sessions/queries.ts';
import { memberActor, type SignedInMember } from '../sessions/session.ts';
import { recordAccountAct } from './account-acts.ts';
import { countProof } from './attempts.ts';
import { checkPassword } from './password.ts';
import {
  findCredentials,
  findCredentialsById,
  lockPassword,
  type MemberCredentials,
  type MemberName,
} from './queries.ts';

export type SignInTools = { db: Db; publicUrl: string };

export type SignInResult = 'signed_in' | 'awaits_code' | 'wrong';

/**
 * Signs in by password. An address without an account takes as long and counts as much as a wrong password. A member
 * with one-time codes gets a session that waits for a code and opens nothing else.
 */
export async function signInByPassword(
  { db, publicUrl }: SignInTools,
  c: Context,
  { email, password }: { email: string; password: string },
): Promise<SignInResult> {
  const address = clientAddress(c);
  const giveBack = await countProof(db, { account: email, address });
  const member = await findCredentials(db, email);
  const isRight = await checkPassword(member?.passwordHash ?? null, password, { address });
  if (!isRight || !member) return 'wrong';
  await giveBack();
  return await inTransaction(db, async (tx) => {
    if (!(await lockPassword(tx, member))) return 'wrong';
    if (!member.hasCodes) {
      await beginMemberSession(tx, c, { publicUrl, member, by: 'password' });
      return 'signed_in';
    }
    await beginSession(tx, c, { publicUrl, memberId: member.id, awaitsCode: true });
    return 'awaits_code';
  });
}

type BeginMemberSession = {
  publicUrl: string;
  member: Omit<MemberName, 'email'>;
  /** The proof that was given. */
  by: 'password' | 'code' | 'passkey' | 'sso' | 'link';
};

/** The last step of every way to sign in: a new session, and its trace. */
export async function beginMemberSession(
  tx: Sql,
  c: Context,
  { publicUrl, member, by }: BeginMemberSession,
) {
  await beginSession(tx, c, { publicUrl, memberId: member.id });
  const actor = memberActor(member, c.get('requestId'));
  await recordAccountAct(tx, {
    memberId: member.id,
    actor,
    act: 'session.started',
    details: { by },
  });
}

/** Ends the session of this browser. Without one it only clears the cookie. */
export async function signOut({ db, publicUrl }: SignInTools, c: Context) {
  await inTransaction(db, async (tx) => {
    const ended = await endSession(tx, c, publicUrl);
    const member = ended && (await findCredentialsById(tx, ended.memberId));
    if (!member) return;
    const actor = memberActor(member, c.get('requestId'));
    await recordAccountAct(tx, { memberId: member.id, actor, act: 'session.ended' });
  });
}

/** Takes the password of a member who is signed in, once more; returns whether it was right. */
export async function proveByPassword(
  { db }: SignInTools,
  c: Context,
  { member, password }: { member: SignedInMember; password: string },
): Promise<boolean> {
  const found = await checkOwnPassword(db, c, { member, password });
  if (found) await renewProof(db, member.sessionId);
  return found !== undefined;
}

/** The member's credentials if this is the password; wrong ones count as at sign-in. */
export async function checkOwnPassword(
  db: Db,
  c: Context,
  { member, password }: { member: SignedInMember; password: string },
): Promise<MemberCredentials | undefined> {
  const address = clientAddress(c);
  const giveBack = await countProof(db, { account: member.email, address });
  const found = await findCredentialsById(db, member.id);
  if (!(await checkPassword(found?.passwordHash ?? null, password, { address }))) return undefined;
  await giveBack();
  return found;
}
