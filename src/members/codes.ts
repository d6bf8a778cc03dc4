import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Actor } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { recordAccountAct } from './account-acts.ts';

type CodeTools = { db: Db; secrets: Secrets };

/** A member who changes an account, which is their own. */
export type OwnAccount = { memberId: string; actor: Actor };

/** As long as the hash it keys: what RFC 4226 recommends. */
const secretBytes = 20;

/** Makes the secret of an authenticator app. It counts for nothing until `switchCodesOn`. */
export async function beginCodes({ db, secrets }: CodeTools, memberId: string) {
  const sealed = secrets.seal(totpOwner(memberId), randomBytes(secretBytes));
  const { count } = await db`
    update members
    set totp_secret = ${sealed}, totp_step = null
    where id = ${memberId} and totp_since is null`;
  if (count === 0) throw alreadyOn();
}

/** The secret that waits for its first code, to be shown to the member; undefined when none does. */
export async function pendingSecret({ db, secrets }: CodeTools, memberId: string) {
  const { totp_secret: sealed, totp_since } = (await findCodes(db, memberId)) ?? {};
  return sealed && !totp_since ? secrets.openBytes(totpOwner(memberId), sealed) : undefined;
}

/**
 * Lets one-time codes count, once a first code proves that the app has the secret. Returns the recovery codes, which
 * are never shown again; undefined when the code is wrong.
 */
export async function switchCodesOn(
  { db, secrets }: CodeTools,
  { memberId, actor }: OwnAccount,
  code: string,
): Promise<string[] | undefined> {
  const { totp_secret: sealed, totp_since } = (await findCodes(db, memberId)) ?? {};
  if (!sealed || totp_since) throw alreadyOn();
  const secret = secrets.openBytes(totpOwner(memberId), sealed);
  const step = totpStep({ secret, code, at: new Date(), lastStep: null });
  if (step === null) return undefined;
  return await inTransaction(db, async (tx) => {
    const { count } = await tx`
      update members
      set totp_since = now(), totp_step = ${step}
      where id = ${memberId} and totp_since is null and totp_secret = ${sealed}`;
    if (count === 0) throw alreadyOn();
    await recordAccountAct(tx, { memberId, actor, act: 'member.codes_on' });
    return await replaceRecoveryCodes(tx, memberId);
  });
}

/** New recovery codes; those until now no longer work. */
export async function renewRecoveryCodes(db: Db, { memberId, actor }: OwnAccount) {
  const codes = await findCodes(db, memberId);
  if (!codes?.totp_since) {
    throw new Refusal('conflict', 'One-time codes are off.', { code: 'codes_off' });
  }
  return await inTransaction(db, async (tx) => {
    await recordAccountAct(tx, { memberId, actor, act: 'member.codes_renewed' });
    return await replaceRecoveryCodes(tx, memberId);
  });
}

export async function switchCodesOff(db: Db, { memberId, actor }: OwnAccount) {
  await inTransaction(db, async (tx) => {
    await tx`delete from recovery_codes where member_id = ${memberId}`;
    const { count } = await tx`
      update members
      set totp_secret = null, totp_since = null, totp_step = null
      where id = ${memberId} and totp_secret is not null`;
    if (count > 0) await recordAccountAct(tx, { memberId, actor, act: 'member.codes_off' });
  });
}

/** Returns true for the member's second step: a code of the app, or a recovery code. Either works once. */
export async function checkSecondStep(
  { db, secrets }: CodeTools,
  memberId: string,
  typed: string,
): Promise<boolean> {
  if (isRecoveryCode(typed)) {
    const { count } = await db`
      update recovery_codes
      set used_at = now()
      where member_id = ${memberId} and code_hash = ${recoveryCodeHash(memberId, typed)}
        and used_at is null`;
    return count > 0;
  }
  const codes = await findCodes(db, memberId);
  if (!codes?.totp_secret || !codes.totp_since) return false;
  let secret: Buffer;
  try {
    secret = secrets.openBytes(totpOwner(memberId), codes.totp_secret);
  } catch {
    // After a change of the key that left the old one out, recovery codes still work.
    throw new Refusal(
      'unavailable',
      'Codes of your app cannot be checked, because the key of this server was changed. Use a recovery code.',
      { code: 'codes_unreadable' },
    );
  }
  const step = totpStep({ secret, code: typed, at: new Date(), lastStep: codes.totp_step });
  if (step === null) return false;
  const { count } = await db`
    update members
    set totp_step = ${step}
    where id = ${memberId} and totp_since is not null and (totp_step is null or totp_step < ${step})`;
  return count > 0;
}

/** Sealed for one member, a secret opens for no other. */
const totpOwner = (memberId: string) => ({ owner: 'member', id: memberId });

const alreadyOn = () =>
  new Refusal('conflict', 'One-time codes are on already, or were begun in another window.', {
    code: 'codes_on',
  });

type MemberCodes = {
  /** Sealed; without `totp_since` it waits for its first code. */
  totp_secret: Buffer | null;
  totp_since: Date | null;
  totp_step: number | null;
};

async function findCodes(sql: Sql, memberId: string) {
  const [row] = await sql<MemberCodes[]>`
    select totp_secret, totp_since, totp_step::float8 as totp_step
    from members
    where id = ${memberId}`;
  return row;
}

const recoveryCodeCount = 10;
/** 80 bits: a plain hash of one cannot be searched for. */
export const recoveryCodeBytes = 10;

async function replaceRecoveryCodes(tx: Sql, memberId: string) {
  const codes = Array.from({ length: recoveryCodeCount }, () =>
    recoveryCode(randomBytes(recoveryCodeBytes)),
  );
  const hashOf = (code: string) => recoveryCodeHash(memberId, code);
  const rows = codes.map((code) => ({ member_id: memberId, code_hash: hashOf(code) }));
  await tx`delete from recovery_codes where member_id = ${memberId}`;
  await tx`insert into recovery_codes ${tx(rows)}`;
  return codes;
}

/** Four groups of four letters and digits, without those that are mistaken for each other. */
export const recoveryCode = (random: Uint8Array): string =>
  inFours(base32(random).toLowerCase(), '-');

/** Spaces, hyphens and capitals make no difference when a code is typed. */
export function recoveryCodeHash(memberId: string, typed: string): Buffer {
  const code = typed.toLowerCase().replace(/[^a-z2-7]/g, '');
  return createHash('sha256').update(`${memberId} ${code}`).digest();
}

/** Returns true for text that looks like a recovery code; otherwise it is judged as a code of the app. */
export const isRecoveryCode = (typed: string): boolean =>
  typed.replace(/[\s-]/g, '').length === Math.ceil((recoveryCodeBytes * 8) / 5);

// One-time codes as every authenticator app makes them: RFC 6238 with SHA-1, six digits, 30 seconds.

const stepMs = 30_000;
const digits = 6;
/** A clock may be this many steps off, in either direction. */
const drift = 1;

type TotpProof = {
  secret: Uint8Array;
  code: string;
  at: Date;
  /** The last step whose code was taken: no code of it or before it is taken again. */
  lastStep: number | null;
};

/** The step of the code, which has not been used yet; null if the code is wrong or used. */
export function totpStep({ secret, code, at, lastStep }: TotpProof): number | null {
  const typed = code.replace(/\s/g, '');
  const now = Math.floor(at.getTime() / stepMs);
  for (let step = Math.max(now - drift, (lastStep ?? 0) + 1); step <= now + drift; step++) {
    if (totpCode(secret, step) === typed) return step;
  }
  return null;
}

/** The code of one step: a hash of its number, cut to six digits (RFC 4226, 5.3). */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', secret).update(counter).digest();
  const offset = hash.at(-1)! & 0x0f;
  const number = hash.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The content of the QR code for an authenticator app. */
export function totpUrl(secret: Uint8Array, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  // Some apps show a plus sign as such: URLSearchParams writes spaces as plus signs.
  const query = `secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?${query}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`;
}

/** The secret for typing it where no camera is. */
export const typedSecret = (secret: Uint8Array): string => inFours(base32(secret), ' ');

const inFours = (text: string, between: string) => text.replace(/.{4}(?=.)/g, `$&${between}`);

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 without padding, which authenticator apps do not expect. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}
