import type { Context } from 'hono';
import { recordAct } from '../audit/acts.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { createOrganization, newOrganization } from '../organizations/manage.ts';
import { isKnownZone } from '../organizations/queries.ts';
import { hashToken, memberActor, newToken } from '../sessions/session.ts';
import { hashPassword } from './password.ts';
import { consumeLink, findLink, hasMembers, insertMember, saveRole } from './queries.ts';
import { type MemberTools, startMemberSession } from './sign-in.ts';

/** Creates the link for the first member and ends earlier ones. Returns undefined once there is a member. */
export async function createWelcomeLink(db: Db, publicUrl: string): Promise<string | undefined> {
  const token = newToken();
  const { count } = await db`
    -- all organizations
    with ended as (
      delete from member_links where kind = 'welcome'
    )
    insert into member_links (token_hash, kind, expires_at)
    select ${hashToken(token)}, 'welcome', now() + interval '24 hours'
    where not exists (select from members)`;
  return count > 0 ? `${publicUrl}/welcome/${token}` : undefined;
}

/** True while the link works and there is no member yet. */
export async function isWelcomeLinkLive(db: Db, token: string): Promise<boolean> {
  const link = await findLink(db, 'welcome', hashToken(token));
  return link !== undefined && !(await hasMembers(db));
}

type FirstMember = {
  token: string;
  name: string;
  email: string;
  /** Null if password sign-in is off: the member signs in at the OpenID provider. */
  password: string | null;
  organization: string;
  /** From the browser. Null without JavaScript. */
  timeZone: string | null;
};

/** Creates the first member as operator and owner. Returns the organization's slug, or undefined if the link expired. */
export async function createFirstMember(
  { db, publicUrl, settings }: Omit<MemberTools, 'mailbox'>,
  c: Context,
  { token, name, email, password, organization: named, timeZone }: FirstMember,
): Promise<string | undefined> {
  const address = clientAddress(c);
  const passwordHash = password === null ? null : await hashPassword(password, { address });
  return await inTransaction(db, async (tx) => {
    const link = await consumeLink(tx, 'welcome', hashToken(token));
    if (!link || (await hasMembers(tx))) return undefined;
    const member = await insertMember(tx, { name, email, passwordHash, isOperator: true });
    if (!member) return undefined;
    const actor = memberActor(member, c.get('requestId'));
    const isZone = timeZone !== null && (await isKnownZone(tx, timeZone));
    const { id: orgId, slug } = await createOrganization(tx, actor, {
      ...newOrganization(settings),
      ...(isZone && { time_zone: timeZone }),
      name: named,
    });
    await saveRole(tx, { orgId, memberId: member.id, role: 'owner' });
    await recordAct(tx, { orgId, actor, act: 'member.joined', details: { role: 'owner' } });
    await startMemberSession(tx, c, { publicUrl, member, by: 'link' });
    return slug;
  });
}
