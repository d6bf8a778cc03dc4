import type { Context } from 'hono';
import { changesOf } from '../audit/acts.ts';
import { notFound } from '../errors.ts';
import { type Db, inTransaction, one, type Sql } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { deleteSessions, renewProof } from '../sessions/queries.ts';
import type { SignedInMember } from '../sessions/session.ts';
import { recordAccountAct } from './account-acts.ts';
import type { OwnAccount } from './codes.ts';
import { hashPassword } from './password.ts';
import { deleteMemberLinks, setPassword } from './queries.ts';
import { checkOwnPassword } from './sign-in.ts';

export async function changeName(db: Db, { memberId, actor }: OwnAccount, name: string) {
  await inTransaction(db, async (tx) => {
    const [before] = await tx<{ name: string }[]>`
      select name from members where id = ${memberId} and name <> ${name} for no key update`;
    if (!before) return;
    await tx`update members set name = ${name} where id = ${memberId}`;
    const details = { changes: changesOf(before, { name }) };
    await recordAccountAct(tx, { memberId, actor, act: 'member.changed', details });
  });
}

type PasswordChange = {
  member: SignedInMember;
  own: OwnAccount;
  /** Undefined if the account has no password and the member has given another recent proof. */
  current: string | undefined;
  password: string;
};

/** Sets a new password and ends all other sessions. Returns false if the current password is wrong. */
export async function changePassword(
  db: Db,
  c: Context,
  { member, own, current, password }: PasswordChange,
): Promise<boolean> {
  const { memberId, actor } = own;
  if (current !== undefined && !(await checkOwnPassword(db, c, { member, password: current })))
    return false;
  const passwordHash = await hashPassword(password, { address: clientAddress(c) });
  await inTransaction(db, async (tx) => {
    await setPassword(tx, memberId, passwordHash);
    await deleteMemberLinks(tx, memberId);
    await deleteSessions(tx, memberId, { except: member.sessionId });
    await renewProof(tx, member.sessionId);
    await recordAccountAct(tx, { memberId, actor, act: 'member.password_changed' });
  });
  return true;
}

/** Ends one session of the member, or all `except` this one. */
export async function endSessions(
  db: Db,
  { memberId, actor }: OwnAccount,
  which: { id: string } | { except: string },
) {
  await inTransaction(db, async (tx) => {
    const ended = await deleteSessions(tx, memberId, which);
    if (ended > 0)
      await recordAccountAct(tx, { memberId, actor, act: 'session.ended', details: { ended } });
    else if ('id' in which) throw notFound('session');
  });
}

/** Unlinks the account at the OpenID provider. The next sign-in there links it again. */
export async function unlinkSso(db: Db, { memberId, actor }: OwnAccount) {
  await inTransaction(db, async (tx) => {
    const { count } = await tx`
      update members
      set sso_issuer = null, sso_subject = null
      where id = ${memberId} and sso_subject is not null`;
    if (count === 0) return;
    await recordAccountAct(tx, { memberId, actor, act: 'member.sso_unlinked' });
  });
}

export type AccountProofs = {
  hasPassword: boolean;
  ssoIssuer: string | null;
  passkeys: number;
  codesSince: Date | null;
  recoveryCodes: number;
  /** The new email, until its link is opened. */
  pendingEmail: string | null;
};

export async function readProofs(sql: Sql, memberId: string) {
  return one(
    await sql<AccountProofs[]>`
      -- all organizations
      select password_hash is not null as "hasPassword", sso_issuer as "ssoIssuer",
             totp_since as "codesSince",
             (select count(*)::int from passkeys where member_id = m.id) as passkeys,
             (select count(*)::int
              from recovery_codes
              where member_id = m.id and used_at is null) as "recoveryCodes",
             (select email
              from member_links
              where kind = 'email' and member_id = m.id and used_at is null and expires_at > now()
              limit 1) as "pendingEmail"
      from members m
      where id = ${memberId}`,
  );
}

const browsers: [mark: RegExp, name: string][] = [
  [/\bEdgA?\/|\bEdgiOS\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b((Headless)?Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const systems: typeof browsers = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
];

export function deviceName(userAgent: string | null): string {
  const nameIn = (names: typeof browsers) =>
    names.find(([mark]) => mark.test(userAgent ?? ''))?.[1];
  return [nameIn(browsers), nameIn(systems)].filter(Boolean).join(' on ') || 'Unknown device';
}
