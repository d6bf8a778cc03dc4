import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Actor } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { recordAccountAct } from './account-acts.ts';

type CodeTools = { db: Db; secrets: Secrets };

/** A member who changes their own account. */
export type OwnAccount = { memberId: string; actor: Actor };

/** 160 bits, as RFC 4226 recommends. */
const secretBytes = 20;

/** Creates the secret for an authenticator app. Sign-in ignores the secret until `turnOnCodes`. */
export async function createTotpSecret({ db, secrets }: CodeTools, memberId: string) {
  const sealed = secrets.seal(sealContext(memberId), randomBytes(secretBytes));
  const { count } = await db`
    update members
    set totp_secret = ${sealed}, totp_step = null
    where id = ${memberId} and totp_since is null`;
  if (count === 0) throw alreadyOn();
}

/** Returns the secret that no code has confirmed yet, to show it to the member. */
export async function pendingSecret({ db, secrets }: CodeTools, memberId: string) {
  const { totp_secret: sealed, totp_since } = (await findCodes(db, memberId)) ?? {};
  return sealed && !totp_since ? secrets.openBytes(sealContext(memberId), sealed) : undefined;
}

/**
 * Turns two-step verification on once a first code proves that the app has the secret. Returns the recovery codes,
 * which are never shown again, or undefined if the code is wrong.
 */
export async function turnOnCodes(
  { db, secrets }: CodeTools,
  { memberId, actor }: OwnAccount,
  code: string,
): Promise<string[] | undefined> {
  const { totp_secret: sealed, totp_since } = (await findCodes(db, memberId)) ?? {};
  if (!sealed || totp_since) throw alreadyOn();
  const secret = secrets.openBytes(sealContext(memberId), sealed);
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

export async function renewRecoveryCodes(db: Db, { memberId, actor }: OwnAccount) {
  const codes = await findCodes(db, memberId);
  if (!codes?.totp_since) {
    throw new Refusal('conflict', 'Two-step verification is off.', { code: 'codes_off' });
  }
  return await inTransaction(db, async (tx) => {
    await recordAccountAct(tx, { memberId, actor, act: 'member.codes_renewed' });
    return await replaceRecoveryCodes(tx, memberId);
  });
}

export async function turnOffCodes(db: Db, { memberId, actor }: OwnAccount) {
  await inTransaction(db, async (tx) => {
    await tx`delete from recovery_codes where member_id = ${memberId}`;
    const { count } = await tx`
      update members
      set totp_secret = null, totp_since = null, totp_step = null
      where id = ${memberId} and totp_secret is not null`;
    if (count > 0) await recordAccountAct(tx, { memberId, actor, act: 'member.codes_off' });
  });
}

/** Accepts a code from the app or a recovery code. Each works once. */
export async function checkSecondStep({ db, secrets }: CodeTools, memberId: string, typed: string) {
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
    secret = secrets.openBytes(sealContext(memberId), codes.totp_secret);
  } catch {
    // Recovery codes are hashed, so they survive a change of the key.
    throw new Refusal(
      'unavailable',
      "Codes from your app can't be checked because the key of this server has changed. Use a recovery code.",
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

const sealContext = (memberId: string) => ({ owner: 'member', id: memberId });

const alreadyOn = () =>
  new Refusal('conflict', 'Two-step verification is already on, or was set up in another window.', {
    code: 'codes_on',
  });

type MemberCodes = {
  /** Sealed. No code has confirmed the secret while `totp_since` is null. */
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
/** 80 bits are too many to search, so a plain hash is safe. */
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

/** Four groups of four letters and digits. Base32 leaves out characters that look alike. */
export const recoveryCode = (random: Uint8Array): string =>
  inFours(base32(random).toLowerCase(), '-');

/** Ignores spaces, hyphens and case in the typed code. */
export function recoveryCodeHash(memberId: string, typed: string): Buffer {
  const code = typed.toLowerCase().replace(/[^a-z2-7]/g, '');
  return createHash('sha256').update(`${memberId} ${code}`).digest();
}

/** Tells recovery codes from codes of the app by their length. */
export const isRecoveryCode = (typed: string): boolean =>
  typed.replace(/[\s-]/g, '').length === Math.ceil((recoveryCodeBytes * 8) / 5);

// TOTP as authenticator apps expect it: RFC 6238 with SHA-1, six digits, 30 seconds.

const stepMs = 30_000;
const digits = 6;
/** A phone's clock may be one step fast or slow. */
const drift = 1;

type TotpProof = {
  secret: Uint8Array;
  code: string;
  at: Date;
  /** The last step whose code was accepted. Codes of this and earlier steps are rejected as replays. */
  lastStep: number | null;
};

/** Returns the step of an unused code, or null if the code is wrong or used. */
export function totpStep({ secret, code, at, lastStep }: TotpProof): number | null {
  const typed = code.replace(/\s/g, '');
  const now = Math.floor(at.getTime() / stepMs);
  for (let step = Math.max(now - drift, (lastStep ?? 0) + 1); step <= now + drift; step++) {
    if (totpCode(secret, step) === typed) return step;
  }
  return null;
}

/** The code of one step (RFC 4226, 5.3). */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', secret).update(counter).digest();
  const offset = hash.at(-1)! & 0x0f;
  const number = hash.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

export function totpUrl(secret: Uint8Array, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  // URLSearchParams would write spaces as plus signs, and some apps show the plus signs.
  const query = `secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?${query}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`;
}

/** The secret in groups of four, for typing by hand. */
export const formatSecret = (secret: Uint8Array): string => inFours(base32(secret), ' ');

const inFours = (text: string, between: string) => text.replace(/.{4}(?=.)/g, `$&${between}`);

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 without padding, as authenticator apps expect it. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}
