import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import * as v from 'valibot';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { deleteRows } from '../lib/db/delete-in-batches.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { deleteOldSessions, findAwaitingCode } from '../sessions/queries.ts';
import {
  cookieAttributes,
  endSession,
  memberActor,
  readSessionHash,
  type SignedInMember,
  startSession,
} from '../sessions/session.ts';
import type { SignInSettings } from '../settings.ts';
import { recordAccountAct } from './account-acts.ts';
import { countProof } from './attempts.ts';
import { checkSecondStep, isRecoveryCode } from './codes.ts';
import { checkPassword } from './password.ts';
import {
  findCredentials,
  findCredentialsById,
  lockPassword,
  type MemberCredentials,
  type MemberName,
} from './queries.ts';

export type SignInTools = { db: Db; secrets: Secrets; publicUrl: string };

export type MemberTools = SignInTools & {
  settings: { signIn: SignInSettings; ai?: object | null };
  /** No mail server is set, so mails only reach the built-in mailbox. */
  mailbox: boolean;
};

/** The member who has given the right password in this browser and still needs a code. */
export async function findAwaitedMember({ db, publicUrl }: SignInTools, c: Context) {
  const hash = readSessionHash(c, publicUrl);
  return hash && (await findAwaitingCode(db, hash));
}

/**
 * Signs in by the second step. Anyone who knows the password can use up the daily attempts at codes, so recovery
 * codes, which cannot be guessed, don't count against them.
 */
export async function signInByCode(
  tools: SignInTools,
  c: Context,
  { memberId, typed }: { memberId: string; typed: string },
): Promise<boolean> {
  const { db, publicUrl } = tools;
  const uncount = await countProof(db, {
    account: `code ${memberId}`,
    address: clientAddress(c),
    isGuessable: !isRecoveryCode(typed),
  });
  if (!(await checkSecondStep(tools, memberId, typed))) return false;
  await uncount();
  return await inTransaction(db, async (tx) => {
    const member = await findCredentialsById(tx, memberId);
    if (!member) return false;
    await startMemberSession(tx, c, { publicUrl, member, by: 'code' });
    return true;
  });
}

/**
 * Signs in by password. An address without an account takes as long and counts as much as a wrong password. With
 * two-step verification, the new session only accepts a code.
 */
export async function signInByPassword(
  { db, publicUrl }: SignInTools,
  c: Context,
  { email, password }: { email: string; password: string },
): Promise<'signed_in' | 'awaits_code' | 'wrong'> {
  const address = clientAddress(c);
  const uncount = await countProof(db, { account: email, address });
  const member = await findCredentials(db, email);
  const isRight = await checkPassword(member?.passwordHash ?? null, password, { address });
  if (!isRight || !member) return 'wrong';
  await uncount();
  return await inTransaction(db, async (tx) => {
    if (!(await lockPassword(tx, member))) return 'wrong';
    return await startPasswordSession(tx, c, { publicUrl, member, by: 'password' });
  });
}

/** Starts a full session or, with two-step verification, a session that only accepts a code. */
export async function startPasswordSession(
  tx: Sql,
  c: Context,
  { publicUrl, member, by }: StartMemberSession & { member: MemberCredentials },
): Promise<'signed_in' | 'awaits_code'> {
  if (!member.hasCodes) {
    await startMemberSession(tx, c, { publicUrl, member, by });
    return 'signed_in';
  }
  await startSession(tx, c, { publicUrl, memberId: member.id, awaitsCode: true });
  return 'awaits_code';
}

type StartMemberSession = {
  publicUrl: string;
  member: Omit<MemberName, 'email'>;
  by: 'password' | 'code' | 'passkey' | 'sso' | 'link';
};

/** Starts a session and records it in the audit log, as the last step of every way to sign in. */
export async function startMemberSession(
  tx: Sql,
  c: Context,
  { publicUrl, member, by }: StartMemberSession,
) {
  const memberId = member.id;
  await startSession(tx, c, { publicUrl, memberId });
  const actor = memberActor(member, c.get('requestId'));
  await recordAccountAct(tx, { memberId, actor, act: 'session.started', details: { by } });
}

/** Ends the session of this browser and clears its cookie. */
export async function signOut({ db, publicUrl }: SignInTools, c: Context) {
  await inTransaction(db, async (tx) => {
    const ended = await endSession(tx, c, publicUrl);
    const member = ended && (await findCredentialsById(tx, ended.memberId));
    if (!member) return;
    const actor = memberActor(member, c.get('requestId'));
    await recordAccountAct(tx, { memberId: member.id, actor, act: 'session.ended' });
  });
}

/** Counts wrong passwords by session, so that strangers at the sign-in page cannot lock a signed-in member out. */
export async function checkOwnPassword(
  db: Db,
  c: Context,
  { member, password }: { member: SignedInMember; password: string },
) {
  const address = clientAddress(c);
  const uncount = await countProof(db, { account: `session ${member.sessionId}`, address });
  const stored = (await findCredentialsById(db, member.id))?.passwordHash ?? null;
  const isRight = await checkPassword(stored, password, { address });
  if (isRight) await uncount();
  return isRight;
}

type Handshake = 'oidc' | 'passkey';

type Pending = { expires: number; data: unknown };

const handshakeSeconds = 600;

/** Stores the state of a pending sign-in in a sealed cookie until the browser returns with the answer. */
export function setHandshake(
  c: Context,
  { secrets, publicUrl }: SignInTools,
  { kind, data }: { kind: Handshake; data: object },
) {
  const pending: Pending = { expires: Date.now() + handshakeSeconds * 1000, data };
  const value = secrets.seal(ownerOf(kind), JSON.stringify(pending)).toString('base64url');
  const attributes = { ...cookieAttributes(publicUrl), maxAge: handshakeSeconds };
  setCookie(c, nameOf(kind, publicUrl), value, attributes);
}

/** Returns the stored state once. A copy of the cookie does not work a second time. */
export async function consumeHandshake<const S extends v.GenericSchema>(
  c: Context,
  { db, secrets, publicUrl }: SignInTools,
  { kind, data }: { kind: Handshake; data: S },
): Promise<v.InferOutput<S> | undefined> {
  const name = nameOf(kind, publicUrl);
  const value = getCookie(c, name);
  if (!value) return undefined;
  deleteCookie(c, name, cookieAttributes(publicUrl));
  const bytes = Buffer.from(value, 'base64url');
  let pending: Pending;
  try {
    pending = JSON.parse(secrets.open(ownerOf(kind), bytes));
  } catch {
    return undefined; // forged, or sealed with a former key
  }
  const read = v.safeParse(data, pending.data);
  if (!read.success || pending.expires < Date.now()) return undefined;
  // Hash the bytes: the same bytes can be spelled differently in base64.
  const hash = createHash('sha256').update(bytes).digest();
  const { count } = await db`
    insert into spent_handshakes (hash, expires_at)
    values (${hash}, ${new Date(pending.expires)})
    on conflict do nothing`;
  return count > 0 ? read.output : undefined;
}

const ownerOf = (kind: Handshake) => ({ owner: 'handshake', id: kind });

const nameOf = (kind: Handshake, publicUrl: string) =>
  publicUrl.startsWith('https:') ? `__Host-askback-${kind}` : `askback_${kind}`;

/** Deletes expired sessions, links and attempts, with room for clocks that differ. */
export async function cleanUpMembers({ db }: { db: Db }) {
  await deleteOldSessions(db);
  // Expired links stay for a month as a trace.
  await deleteRows(db, 'member_links', db`expires_at < now() - interval '30 days'`);
  await deleteRows(db, 'proof_attempts', db`newest_at < now() - interval '2 days'`);
  await deleteRows(db, 'spent_handshakes', db`expires_at < now() - interval '1 hour'`);
}
