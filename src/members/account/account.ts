import type { Context } from 'hono';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import { clientAddress } from '../../lib/http/client-address.ts';
import { deleteSession, deleteSessions, renewProof } from '../../sessions/queries.ts';
import type { SignedInMember } from '../../sessions/session.ts';
import { recordAccountAct } from '../account-acts.ts';
import type { OwnAccount } from '../codes/codes.ts';
import { deleteResetLinks } from '../links.queries.ts';
import { clearSubject } from '../oidc/queries.ts';
import { hashPassword } from '../password.ts';
import { setPassword } from '../queries.ts';
import { checkOwnPassword } from '../sign-in.ts';
import { saveName } from './queries.ts';

export async function changeName(db: Db, { memberId, actor }: OwnAccount, name: string) {
  await inTransaction(db, async (tx) => {
    if (!(await saveName(tx, memberId, name))) return;
    const details = { changed: ['name'] };
    await recordAccountAct(tx, { memberId, actor, act: 'member.changed', details });
  });
}

type PasswordChange = {
  member: SignedInMember;
  own: OwnAccount;
  /** Undefined for an account without a password, whose member has just given another proof. */
  current: string | undefined;
  password: string;
};

/** Sets a new password and ends all other sessions. Returns whether the current one was right. */
export async function changePassword(
  db: Db,
  c: Context,
  { member, own, current, password }: PasswordChange,
): Promise<boolean> {
  const { memberId, actor } = own;
  if (current !== undefined) {
    if (!(await checkOwnPassword(db, c, { member, password: current }))) return false;
  }
  const passwordHash = await hashPassword(password, { address: clientAddress(c) });
  await inTransaction(db, async (tx) => {
    await setPassword(tx, memberId, passwordHash);
    await deleteResetLinks(tx, memberId);
    await deleteSessions(tx, memberId, { except: member.sessionId });
    await renewProof(tx, member.sessionId);
    await recordAccountAct(tx, { memberId, actor, act: 'member.password_changed' });
  });
  return true;
}

/** Ends one session of the member. */
export async function endOneSession(db: Db, { memberId, actor }: OwnAccount, id: string) {
  await inTransaction(db, async (tx) => {
    if (!(await deleteSession(tx, memberId, id))) throw notFound('session');
    await recordAccountAct(tx, { memberId, actor, act: 'session.ended' });
  });
}

/** Ends all sessions of the member but the one that asks. Returns how many there were. */
export async function endOtherSessions(
  db: Db,
  { memberId, actor }: OwnAccount,
  except: string,
): Promise<number> {
  return await inTransaction(db, async (tx) => {
    const ended = await deleteSessions(tx, memberId, { except });
    const details = { ended };
    if (ended > 0) {
      await recordAccountAct(tx, { memberId, actor, act: 'session.ended', details });
    }
    return ended;
  });
}

/** Ends the link with the account at the OpenID provider. The next sign-in there makes a new one. */
export async function unlinkSso(db: Db, { memberId, actor }: OwnAccount) {
  await inTransaction(db, async (tx) => {
    if (!(await clearSubject(tx, memberId))) return;
    const details = { changed: ['single sign-on'] };
    await recordAccountAct(tx, { memberId, actor, act: 'member.changed', details });
  });
}
