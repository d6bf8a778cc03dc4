import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Actor, Writer } from '../audit/actor.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import type { RequestEnv } from '../lib/http/http.ts';
import { SeeOther } from '../lib/http/see-other.ts';
import { flash } from '../web/app/flash.ts';
import { keepPosted } from '../web/app/read-form.ts';
import { readSessionHash } from './cookie.ts';
import { ownPath, withNext } from './own-path.ts';
import {
  type FoundMember,
  type FoundOrganization,
  findMembership,
  findSession,
  type OtherOrganization,
} from './queries.ts';

export type SignedInMember = FoundMember;
export type CurrentOrganization = FoundOrganization;
export type Role = CurrentOrganization['role'];

/** What a request of a member carries, outside and inside of an organization. */
export type MemberEnv = RequestEnv & {
  Variables: {
    member: SignedInMember;
    actor: Actor;
    /** All organizations of the member but the one that is open. */
    otherOrganizations: OtherOrganization[];
  };
};
export type ScreenEnv = MemberEnv & {
  Variables: { organization: CurrentOrganization };
};

/** Proofs that the member behind a request may do this. Only requireRole() makes them. */
export type EditorOf = Writer & { memberId: string; role: 'editor' | 'owner' };
export type OwnerOf = EditorOf & { role: 'owner' };

export type SessionTools = { db: Db; publicUrl: string };

const recentProofMs = 60 * 60 * 1000;

/** Lets members through. A visitor is led to the sign-in page and back; a form that is posted is refused. */
export const signedIn = ({ db, publicUrl }: SessionTools) =>
  createMiddleware<MemberEnv>(async (c, next) => {
    const hash = readSessionHash(c, publicUrl);
    const found = hash && (await findSession(db, hash));
    if (!found) return refuseVisitor(c, hash !== undefined);
    const { member, otherOrganizations } = found;
    c.set('member', member);
    c.set('actor', memberActor(member, c.var.requestId));
    c.set('otherOrganizations', otherOrganizations);
    await next();
  });

/**
 * For `/o/:slug/*`: lets members of the organization through; to others it is not found. An earlier slug leads to the
 * present one. One statement finds the session, the organization and the role, so that a role taken away holds for the
 * very next request.
 */
export const inOrganization = ({ db, publicUrl }: SessionTools) =>
  createMiddleware<ScreenEnv>(async (c, next) => {
    const slug = c.req.param('slug') ?? '';
    const hash = readSessionHash(c, publicUrl);
    const found = hash && (await findMembership(db, hash, slug));
    if (!found) return refuseVisitor(c, hash !== undefined);
    const { member, organization, otherOrganizations } = found;
    if (!organization) throw notFound('page');
    if (organization.slug !== slug && isRead(c)) {
      const path = pathOf(c).replace(`/o/${slug}`, `/o/${organization.slug}`);
      return c.redirect(path, 303);
    }
    c.set('member', member);
    c.set('actor', memberActor(member, c.var.requestId));
    c.set('organization', organization);
    c.set('otherOrganizations', otherOrganizations);
    c.set('tenant', organization.id);
    await inGroup(organization.id, next, { waitMs: requestWaitMs });
  });

/** For what runs the deployment: after `signedIn`; it does not exist for members who are no operators. */
export const requireOperator = createMiddleware<MemberEnv>(async (c, next) => {
  if (!c.var.member.isOperator) throw notFound('page');
  await next();
});

/** Requests that have passed `signedIn` or `inOrganization`, whatever else their environment has. */
type OfMember = Pick<Context, 'req'> & { var: { member: SignedInMember; actor: Actor } };
type InOrganization = OfMember & { var: { organization: CurrentOrganization } };

/** The proof that the member may act as an editor or as an owner of the organization. */
export function requireRole(c: InOrganization, role: 'editor'): EditorOf;
export function requireRole(c: InOrganization, role: 'owner'): OwnerOf;
export function requireRole(c: InOrganization, needed: 'editor' | 'owner'): EditorOf {
  const { id: orgId, role } = c.var.organization;
  if (role === 'viewer' || (role === 'editor' && needed === 'owner')) {
    throw new Refusal('forbidden', `only ${needed}s of the organization may do this`, {
      code: 'role_too_small',
    });
  }
  return { orgId, actor: c.var.actor, mayWrite: true, memberId: c.var.member.id, role };
}

/** The proof that an operator may change an organization, such as its limits and its first owner. */
export function operatorWriter(c: OfMember, orgId: string): Writer & { role?: 'owner' } {
  if (!c.var.member.isOperator) throw notFound('page');
  return { orgId, actor: c.var.actor, mayWrite: true };
}

/** Leads to a page that asks for a proof, and back, when the last one is over an hour old. What was posted is offered again. */
export function requireRecentProof(c: OfMember) {
  if (Date.now() - c.var.member.provedAt.getTime() < recentProofMs) return;
  const next = isRead(c) ? pathOf(c) : pageOf(c);
  throw new SeeOther(withNext('/account/prove', next), { keepsForm: !isRead(c) });
}

async function refuseVisitor(c: Context, hadSession: boolean) {
  if (isRead(c) && hadSession)
    flash(c, {
      kind: 'warning',
      text: 'Your session has ended. Sign in, and you are back where you were going.',
    });
  if (isRead(c)) return c.redirect(withNext('/sign-in', pathOf(c)), 303);
  await keepPosted(c);
  c.set('signInPath', withNext('/sign-in', pageOf(c)));
  throw new Refusal('forbidden', 'you are not signed in: sign in and try again', {
    code: 'signed_out',
  });
}

/** A member as the author of acts. */
export const memberActor = (
  { id, name }: { id: string; name: string },
  requestId?: string,
): Actor => ({
  kind: 'member',
  id,
  name,
  requestId,
});

const isRead = (c: Pick<Context, 'req'>) => c.req.method === 'GET' || c.req.method === 'HEAD';

function pathOf(c: Pick<Context, 'req'>): string {
  const { pathname, search } = new URL(c.req.url);
  return `${pathname}${search}`;
}

/** The page that a form was posted from: what it holds must be typed again. */
function pageOf(c: Pick<Context, 'req'>): string {
  const referrer = c.req.header('Referer') ?? '';
  if (!URL.canParse(referrer)) return '/';
  const { pathname, search } = new URL(referrer);
  return ownPath(`${pathname}${search}`);
}
