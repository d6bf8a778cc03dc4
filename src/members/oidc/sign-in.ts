import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';
import type { Sql } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import type { OidcIdentity } from '../../lib/oidc/identity.ts';
import { oneLine } from '../../lib/validation/plain-line.ts';
import { deleteSessions, renewProof } from '../../sessions/queries.ts';
import { memberActor, type SignedInMember } from '../../sessions/session.ts';
import type { OidcSettings } from '../../settings/sign-in.ts';
import { recordAccountAct } from '../account-acts.ts';
import { joinByInvitation } from '../join.ts';
import { deleteResetLinks, type LiveLink, takeInvitationsOf } from '../links.queries.ts';
import { insertMember, type MemberName, noteEmailProved } from '../queries.ts';
import { beginMemberSession, type SignInTools } from '../sign-in.ts';
import { followGroups } from './follow-groups.ts';
import { judgeIdentity, type RefusedIdentity } from './identity.rules.ts';
import {
  deleteProofs,
  findMemberBySubject,
  findOrganizationToJoin,
  lockMemberByEmail,
  saveSubject,
} from './queries.ts';

export type OidcSignInTools = SignInTools & { rules: OidcSettings };

export type SsoRefusal = RefusedIdentity | 'other_account' | 'no_access';
export type SsoResult = { refused: SsoRefusal } | { member: MemberName };

const longestName = 200;

/**
 * Signs in the member that an OpenID provider vouches for. It is found by the provider's own id of it; the first time
 * by its verified address. An unknown address comes in by invitation, by its groups, or by the role of newcomers.
 */
export async function signInByIdentity(
  { db, publicUrl, rules }: OidcSignInTools,
  c: Context,
  identity: OidcIdentity,
): Promise<SsoResult> {
  const judged = judgeIdentity(identity, rules);
  if ('refused' in judged) return judged;
  const { email, groupRole } = judged;
  return await inTransaction(db, async (tx) => {
    const found = await findMember(tx, c, { identity, email });
    if (found && 'refused' in found) return found;
    const orgId = await findOrganizationToJoin(tx, rules.organization);
    const invitations = await takeInvitationsOf(tx, email);
    const hasWayIn = invitations.length > 0 || (orgId && (groupRole ?? rules.role));
    if (!found && !hasWayIn) return { refused: 'no_access' };
    const member = found ?? (await addMember(tx, { identity, email }));
    await joinInvited(tx, c, { member, invitations });
    if (orgId && !invitations.some((link) => link.orgId === orgId)) {
      const actor = memberActor(member, c.get('requestId'));
      const isNewcomer = found === undefined;
      await followGroups(tx, { orgId, member, actor, groupRole, isNewcomer, rules });
    }
    await beginMemberSession(tx, c, { publicUrl, member, by: 'sso' });
    return { member };
  });
}

/** Takes a new sign-in at the provider as a proof of a member who is signed in, if it is the same person. */
export async function proveByIdentity(
  { db }: Pick<OidcSignInTools, 'db'>,
  member: SignedInMember,
  identity: OidcIdentity,
): Promise<boolean> {
  const found = await findMemberBySubject(db, identity);
  if (found?.id !== member.id || !isFresh(identity)) return false;
  await renewProof(db, member.sessionId);
  return true;
}

const freshMs = 5 * 60 * 1000;

/** A provider that does not say when it asked is trusted to have done so, as the request said. */
const isFresh = ({ authenticatedAt }: OidcIdentity) =>
  authenticatedAt === null || Date.now() - authenticatedAt.getTime() < freshMs;

type Vouched = { identity: OidcIdentity; email: string };

/** A known address is linked once. Another person at the provider who has it later does not get the account. */
async function findMember(
  tx: Sql,
  c: Context,
  { identity, email }: Vouched,
): Promise<MemberName | { refused: 'other_account' } | undefined> {
  const linked = await findMemberBySubject(tx, identity);
  if (linked) return linked;
  const member = await lockMemberByEmail(tx, email);
  if (!member) return undefined;
  if (member.ssoIssuer === identity.issuer) return { refused: 'other_account' };
  await saveSubject(tx, member.id, identity);
  const hadProofs = !member.isProved && (await endProofs(tx, member.id));
  await noteEmailProved(tx, member.id);
  await recordAccountAct(tx, {
    memberId: member.id,
    actor: memberActor(member, c.get('requestId')),
    act: 'member.changed',
    details: { changed: ['single sign-on', ...(hadProofs ? ['password and passkeys'] : [])] },
  });
  return member;
}

/**
 * An account may have been made in the name of an address by another person than the one who has it. As long as the
 * address was not proved, its password, passkeys, links and sessions end here. Returns whether there was any proof.
 */
async function endProofs(tx: Sql, memberId: string): Promise<boolean> {
  const hadProofs = await deleteProofs(tx, memberId);
  await deleteResetLinks(tx, memberId);
  await deleteSessions(tx, memberId);
  return hadProofs;
}

async function addMember(tx: Sql, { identity, email }: Vouched): Promise<MemberName> {
  const name = oneLine(identity.name ?? '').slice(0, longestName) || email.split('@')[0]!;
  const member = await insertMember(tx, { email, name, passwordHash: null, isOperator: false });
  if (!member) throw atOnce();
  await saveSubject(tx, member.id, identity);
  await noteEmailProved(tx, member.id);
  return member;
}

/** The same person in two windows: by now the account is there. */
const atOnce = () =>
  new Refusal('conflict', 'This account was made in another window just now. Sign in again.', {
    code: 'made_at_once',
  });

type Invited = { member: MemberName; invitations: readonly LiveLink[] };

async function joinInvited(tx: Sql, c: Context, { member, invitations }: Invited) {
  const actor = memberActor(member, c.get('requestId'));
  for (const link of invitations) await joinByInvitation(tx, { link, member, actor });
}
