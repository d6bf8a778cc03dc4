import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import type { Actor, Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { type RequestEnv, SeeOther } from '../lib/http/http.ts';
import { oneLine } from '../lib/validation/parse.ts';
import { flash } from '../web/app/flash.ts';
import { cachePostedForm } from '../web/app/forms.tsx';
import {
  type CurrentOrganization,
  deleteSessionOf,
  findSession,
  insertSession,
  maxSessionDays,
  type OtherOrganization,
  type SignedInMember,
} from './queries.ts';

export type { CurrentOrganization, SignedInMember };

const maxUserAgent = 300;

type BeginOptions = { publicUrl: string; memberId: string; awaitsCode?: boolean };

/**
 * Starts a session and ends the browser's previous one. With `awaitsCode` the session accepts only a code. The caller's
 * transaction must commit before the response with the cookie goes out.
 */
export async function startSession(
  tx: Sql,
  c: Context,
  { publicUrl, memberId, awaitsCode = false }: BeginOptions,
) {
  const before = readSessionHash(c, publicUrl);
  if (before) await deleteSessionOf(tx, before);
  const token = newToken();
  const userAgent = oneLine(c.req.header('User-Agent') ?? '').slice(0, maxUserAgent);
  await insertSession(tx, {
    token_hash: hashToken(token),
    member_id: memberId,
    awaits_code: awaitsCode,
    user_agent: userAgent || null,
    address: clientAddress(c),
  });
  setSessionCookie(c, publicUrl, token, maxSessionDays * 24 * 60 * 60);
}

export async function endSession(sql: Sql, c: Context, publicUrl: string) {
  const hash = readSessionHash(c, publicUrl);
  setSessionCookie(c, publicUrl, '', 0);
  return hash && (await deleteSessionOf(sql, hash));
}

export async function homePath(c: Context, { db, publicUrl }: SessionTools): Promise<string> {
  const hash = readSessionHash(c, publicUrl);
  const session = hash && (await findSession(db, hash));
  if (!session) return '/sign-in';
  const [first] = session.otherOrganizations;
  if (first) return `/o/${first.slug}`;
  return session.member.isOperator ? '/operator' : '/account';
}

export type Role = CurrentOrganization['role'];

export type MemberEnv = RequestEnv & {
  Variables: {
    member: SignedInMember;
    actor: Actor;
    /** The member's other organizations. */
    otherOrganizations: OtherOrganization[];
  };
};
export type ScreenEnv = MemberEnv & { Variables: { organization: CurrentOrganization } };

/** Proof of the member's role. Only requireRole() creates it. */
type EditorOf = Writer & { memberId: string; role: 'editor' | 'owner' };
export type OwnerOf = EditorOf & { role: 'owner' };

export type SessionTools = { db: Db; publicUrl: string };

const recentProofMs = 60 * 60 * 1000;

export const signedIn = ({ db, publicUrl }: SessionTools) =>
  createMiddleware<MemberEnv>(async (c, next) => {
    const hash = readSessionHash(c, publicUrl);
    const session = hash && (await findSession(db, hash));
    if (!session) return refuseVisitor(c, hash !== undefined);
    setMember(c, session);
    await next();
  });

/**
 * For `/o/:slug/*`: members pass, others get 404, and a former slug redirects. The role is read with every request, so
 * that removing it takes effect at once.
 */
export const inOrganization = ({ db, publicUrl }: SessionTools) =>
  createMiddleware<ScreenEnv>(async (c, next) => {
    const slug = c.req.param('slug') ?? '';
    const hash = readSessionHash(c, publicUrl);
    const session = hash && (await findSession(db, hash, slug));
    if (!session) return refuseVisitor(c, hash !== undefined);
    const { organization } = session;
    if (!organization) throw notFound('page');
    if (organization.slug !== slug && isRead(c)) {
      const path = pathOf(c).replace(`/o/${slug}`, `/o/${organization.slug}`);
      return c.redirect(path, 303);
    }
    setMember(c, session);
    c.set('organization', organization);
    c.set('tenant', organization.id);
    await inGroup(organization.id, next, { waitMs: requestWaitMs });
  });

type OpenSession = { member: SignedInMember; otherOrganizations: OtherOrganization[] };

function setMember(c: Context, { member, otherOrganizations }: OpenSession) {
  c.set('member', member);
  c.set('actor', memberActor(member, c.get('requestId')));
  c.set('otherOrganizations', otherOrganizations);
}

/** Responds with 404 unless the member is an operator. Runs after `signedIn`. */
export const requireOperator = createMiddleware<MemberEnv>(async (c, next) => {
  if (!c.var.member.isOperator) throw notFound('page');
  await next();
});

/** Requests that have passed `signedIn` or `inOrganization`. */
type MemberContext = Pick<Context, 'req'> & { var: { member: SignedInMember; actor: Actor } };
type OrganizationContext = MemberContext & { var: { organization: CurrentOrganization } };

export function requireRole(c: OrganizationContext, role: 'editor'): EditorOf;
export function requireRole(c: OrganizationContext, role: 'owner'): OwnerOf;
export function requireRole(c: OrganizationContext, needed: 'editor' | 'owner'): EditorOf {
  const { id: orgId, role } = c.var.organization;
  if (role === 'viewer' || (role === 'editor' && needed === 'owner')) {
    throw new Refusal('forbidden', `only ${needed}s of the organization may do this`, {
      code: 'role_too_small',
    });
  }
  return { orgId, actor: c.var.actor, mayWrite: true, memberId: c.var.member.id, role };
}

/** Proof that an operator may change an organization, such as its limits and first owner. */
export function operatorWriter(c: MemberContext, orgId: string): Writer & { role?: 'owner' } {
  if (!c.var.member.isOperator) throw notFound('page');
  return { orgId, actor: c.var.actor, mayWrite: true };
}

export function requireProvedOwner(c: OrganizationContext): OwnerOf {
  const owner = requireRole(c, 'owner');
  requireRecentProof(c);
  return owner;
}

/** Asks the member to re-authenticate after an hour. A posted form is offered again afterwards. */
export function requireRecentProof(c: MemberContext) {
  if (Date.now() - c.var.member.provedAt.getTime() < recentProofMs) return;
  const next = isRead(c) ? pathOf(c) : pageOf(c);
  throw new SeeOther(withNext('/account/prove', next), { keepsForm: !isRead(c) });
}

export const recentProof = createMiddleware<MemberEnv>(async (c, next) => {
  requireRecentProof(c);
  await next();
});

async function refuseVisitor(c: Context, hadSession: boolean) {
  if (isRead(c)) {
    if (hadSession)
      flash(c, { kind: 'warning', text: 'Your session has expired. Sign in to continue.' });
    return c.redirect(withNext('/sign-in', pathOf(c)), 303);
  }
  await cachePostedForm(c);
  c.set('signInPath', withNext('/sign-in', pageOf(c)));
  throw new Refusal('forbidden', 'you are not signed in: sign in and try again', {
    code: 'signed_out',
  });
}

export const memberActor = (
  { id, name }: { id: string; name: string },
  requestId?: string,
): Actor => ({ kind: 'member', id, name, requestId });

const isRead = (c: Pick<Context, 'req'>) => c.req.method === 'GET' || c.req.method === 'HEAD';

function pathOf(c: Pick<Context, 'req'>): string {
  const { pathname, search } = new URL(c.req.url);
  return `${pathname}${search}`;
}

/** The page that a form was posted from. */
function pageOf(c: Pick<Context, 'req'>): string {
  const referrer = c.req.header('Referer') ?? '';
  if (!URL.canParse(referrer)) return '/';
  const { pathname, search } = new URL(referrer);
  return ownPath(`${pathname}${search}`);
}

const tokenBytes = 32;
const tokenForm = /^[\w-]{43}$/;

/** Browsers accept `__Host-` cookies only over https, and never from a sibling host. */
const nameOf = (publicUrl: string) =>
  publicUrl.startsWith('https:') ? '__Host-askback' : 'askback_session';

export const newToken = () => randomBytes(tokenBytes).toString('base64url');

/** Tokens are stored as hashes, so that a leaked backup does not leak live sessions or links. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export function readSessionHash(c: Context, publicUrl: string): Buffer | undefined {
  const token = getCookie(c, nameOf(publicUrl));
  return token && tokenForm.test(token) ? hashToken(token) : undefined;
}

function setSessionCookie(c: Context, publicUrl: string, token: string, maxAge: number) {
  setCookie(c, nameOf(publicUrl), token, { ...cookieAttributes(publicUrl), maxAge });
}

/** `Lax` sends the cookie along when an OpenID provider redirects the browser back. */
export const cookieAttributes = (publicUrl: string) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: publicUrl.startsWith('https:'),
  }) as const;

const anyBase = 'http://askback.invalid';
const maxPath = 2000;

/** Guards against open redirects: `//host`, `/\host` and control characters can lead to another host. */
export function ownPath(path: string | undefined, otherwise = '/'): string {
  if (!path?.startsWith('/') || path.length > maxPath) return otherwise;
  if (/^\/[/\\]|[\\\p{Cc}]/u.test(path) || !URL.canParse(path, anyBase)) return otherwise;
  const { origin, pathname, search, hash } = new URL(path, anyBase);
  if (origin !== anyBase || pathname.startsWith('//')) return otherwise;
  return `${pathname}${search}${hash}`;
}

/** Adds `path` as the page to return to. */
export const withNext = (page: string, path: string) =>
  path === '/' ? page : `${page}?next=${encodeURIComponent(path)}`;
