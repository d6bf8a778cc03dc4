import type { Context } from 'hono';
import type { Actor } from '../audit/actor.ts';
import { notFound } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { hashToken, newToken } from '../sessions/cookie.ts';
import { deleteSessions } from '../sessions/queries.ts';
import { memberActor } from '../sessions/session.ts';
import { recordAccountAct } from './account-acts.ts';
import { countProof } from './attempts.ts';
import { deleteResetLinks, findLink, insertLink, takeLink } from './links.queries.ts';
import { hashPassword } from './password.ts';
import {
  findCredentials,
  findCredentialsById,
  type MemberName,
  noteEmailProved,
  setPassword,
} from './queries.ts';

export type ResetTools = { db: Db };

/**
 * Asks for a link by mail to set a new password. A job finds out whether there is an account: for every address this
 * does the same, takes the same time and counts the same.
 */
export async function requestReset({ db }: ResetTools, c: Context, email: string) {
  const address = clientAddress(c);
  await countProof(db, { account: `link for ${email}`, address, isGuessable: false });
  await enqueue(db, [{ task: 'members.mail_reset', payload: { email } }]);
}

/** A link to set a new password, for a person who has proved in another way that the account is theirs. */
export async function makeResetLink(
  { db, publicUrl }: { db: Db; publicUrl: string },
  actor: Actor,
  email: string,
): Promise<{ url: string }> {
  const member = await findCredentials(db, email);
  if (!member) throw notFound('member');
  const { token } = await inTransaction(db, (tx) =>
    insertReset(tx, member, { actor, provesEmail: false }),
  );
  return { url: `${publicUrl}/reset/${token}` };
}

type NewReset = { actor: Actor; provesEmail: boolean };

export async function insertReset(
  tx: Sql,
  { id }: { id: string },
  { actor, provesEmail }: NewReset,
) {
  const token = newToken();
  const link = { kind: 'reset', memberId: id, provesEmail, tokenHash: hashToken(token) } as const;
  const linkId = await insertLink(tx, link);
  await recordAccountAct(tx, { memberId: id, actor, act: 'member.reset' });
  return { token, linkId };
}

/** The member whose password the link changes, as long as it works. */
export async function findMemberOfReset(db: Db, token: string): Promise<MemberName | undefined> {
  const link = await findLink(db, 'reset', hashToken(token));
  return link?.memberId ? await findCredentialsById(db, link.memberId) : undefined;
}

/**
 * Sets the password of the link's member and ends all of its sessions and links. A member with one-time codes
 * still needs one to sign in. Returns nothing when the link does not work any more.
 */
export async function resetPassword(
  db: Db,
  c: Context,
  { token, password }: { token: string; password: string },
): Promise<MemberName | undefined> {
  const passwordHash = await hashPassword(password, { address: clientAddress(c) });
  return await inTransaction(db, async (tx) => {
    const link = await takeLink(tx, 'reset', hashToken(token));
    const member = link?.memberId ? await findCredentialsById(tx, link.memberId) : undefined;
    if (!member) return undefined;
    if (link?.provesEmail) await noteEmailProved(tx, member.id);
    await setPassword(tx, member.id, passwordHash);
    await deleteResetLinks(tx, member.id);
    await deleteSessions(tx, member.id);
    const actor = memberActor(member, c.get('requestId'));
    await recordAccountAct(tx, { memberId: member.id, actor, act: 'member.password_changed' });
    return member;
  });
}
