import type { Context } from 'hono';
import type { Actor } from '../audit/acts.ts';
import { orNotFound } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { deleteSessions } from '../sessions/queries.ts';
import { hashToken, memberActor, newToken } from '../sessions/session.ts';
import { recordAccountAct } from './account-acts.ts';
import { countProof } from './attempts.ts';
import { hashPassword } from './password.ts';
import {
  consumeLink,
  deleteMemberLinks,
  findCredentials,
  findCredentialsById,
  findLink,
  insertLink,
  lockMember,
  type MemberName,
  markEmailProved,
  setPassword,
} from './queries.ts';
import { type SignInTools, startPasswordSession } from './sign-in.ts';

/** Emails and screens tell it in words. */
const validFor = '1 hour';

/** Keeps an inbox from being flooded, because anyone can request links for a member. */
const maxResetLinks = 5;

/**
 * Requests a reset link by mail. A job looks the account up, so that the response and its time never reveal whether an
 * address has one.
 */
export async function requestReset(db: Db, c: Context, email: string) {
  const address = clientAddress(c);
  await countProof(db, { account: `link for ${email}`, address, isGuessable: false });
  await enqueue(db, [{ task: 'members.mail_reset', payload: { email } }]);
}

/** Creates a reset link for a person whom the operator has identified. */
export async function createResetLink(
  { db, publicUrl }: { db: Db; publicUrl: string },
  actor: Actor,
  email: string,
): Promise<{ url: string }> {
  const { id } = orNotFound(await findCredentials(db, email), 'member');
  return await inTransaction(db, async (tx) => {
    const { token } = await insertReset(tx, id, { provesEmail: false });
    await recordAccountAct(tx, { memberId: id, actor, act: 'member.reset' });
    return { url: `${publicUrl}/reset/${token}` };
  });
}

export async function insertReset(
  sql: Sql,
  memberId: string,
  { provesEmail }: { provesEmail: boolean },
) {
  const token = newToken();
  const tokenHash = hashToken(token);
  const link = { kind: 'reset', validFor, memberId, provesEmail, tokenHash } as const;
  const linkId = await insertLink(sql, link);
  return { token, linkId };
}

export async function hasMaxResetLinks(sql: Sql, memberId: string): Promise<boolean> {
  const links = await sql`
    -- all organizations
    select from member_links
    where kind = 'reset' and member_id = ${memberId} and used_at is null and expires_at > now()`;
  return links.length >= maxResetLinks;
}

export async function findMemberOfReset(db: Db, token: string): Promise<MemberName | undefined> {
  const link = await findLink(db, 'reset', hashToken(token));
  return link?.memberId ? await findCredentialsById(db, link.memberId) : undefined;
}

type NewPassword = { token: string; password: string; removesPasskeys: boolean };

/**
 * Sets the password, ends all sessions and links of the member, and signs the member in, because strangers' attempts
 * may have locked the password for the day. Two-step verification still applies. Returns undefined if the link no
 * longer works.
 */
export async function resetPassword(
  { db, publicUrl }: SignInTools,
  c: Context,
  { token, password, removesPasskeys }: NewPassword,
): Promise<'signed_in' | 'awaits_code' | undefined> {
  const passwordHash = await hashPassword(password, { address: clientAddress(c) });
  return await inTransaction(db, async (tx) => {
    // Locks the member before the link, as the other changes of an account do, so that they don't deadlock.
    const { memberId } = (await findLink(tx, 'reset', hashToken(token))) ?? {};
    if (memberId) await lockMember(tx, memberId);
    const link = await consumeLink(tx, 'reset', hashToken(token));
    const member = link?.memberId ? await findCredentialsById(tx, link.memberId) : undefined;
    if (!member) return undefined;
    if (link?.provesEmail) await markEmailProved(tx, member.id);
    await setPassword(tx, member.id, passwordHash);
    await deleteMemberLinks(tx, member.id);
    await deleteSessions(tx, member.id);
    const actor = memberActor(member, c.get('requestId'));
    await recordAccountAct(tx, { memberId: member.id, actor, act: 'member.password_changed' });
    const { count } = removesPasskeys
      ? await tx`delete from passkeys where member_id = ${member.id}`
      : { count: 0 };
    if (count > 0) {
      const removed = { act: 'member.passkey_removed', details: { removed: count } } as const;
      await recordAccountAct(tx, { memberId: member.id, actor, ...removed });
    }
    return await startPasswordSession(tx, c, { publicUrl, member, by: 'link' });
  });
}
