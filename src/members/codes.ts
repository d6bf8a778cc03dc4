import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Actor } from '../audit/acts.ts';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { recordAccountAct } from './account-acts.ts';

type ResealTotpTools = { db: Db; log: Log; secrets: Secrets };

/** Seals secrets of authenticator apps that the previous key sealed with the current one. */
export async function resealTotpSecrets({ db, log, secrets }: ResealTotpTools) {
  let unreadable = 0;
  let found: readonly SealedTotp[];
  let after: string | null = null;
  do {
    found = await listTotpOfOtherKey(db, { keyId: secrets.keyId, after });
    for (const sealed of found) {
      const resealed = reseal(secrets, sealed);
      if (resealed) await replaceTotpSecret(db, sealed, resealed);
      else unreadable += 1;
    }
    after = found.at(-1)?.id ?? null;
  } while (after !== null);
  if (unreadable > 0)
    log.error({ count: unreadable }, 'secrets of one-time codes cannot be opened');
}

function reseal(secrets: Secrets, { id, totp_secret }: SealedTotp): Buffer | undefined {
  try {
    return secrets.seal(totpOwner(id), secrets.openBytes(totpOwner(id), totp_secret));
  } catch {
    return undefined; // another key sealed it: it stays, in case that key comes back
  }
}

/** As long as the hash it keys: what RFC 4226 recommends. */
const secretBytes = 20;

type CodeTools = { db: Db; secrets: Secrets };

/** A member who changes an account, which is their own. */
export type OwnAccount = { memberId: string; actor: Actor };

/** Whose secret it is: sealed for one member, it opens for no other. */
const totpOwner = (memberId: string) => ({ owner: 'member', id: memberId });

/** Makes the secret of an authenticator app. It counts for nothing until `switchCodesOn`. */
export async function beginCodes({ db, secrets }: CodeTools, memberId: string) {
  const sealed = secrets.seal(totpOwner(memberId), randomBytes(secretBytes));
  if (!(await savePendingSecret(db, memberId, sealed))) throw alreadyOn();
}

/** The secret that waits for its first code, to be shown to the member; undefined when none does. */
export async function pendingSecret(
  { db, secrets }: CodeTools,
  memberId: string,
): Promise<Buffer | undefined> {
  const sealed = await findPending(db, memberId);
  return sealed && secrets.openBytes(totpOwner(memberId), sealed);
}

async function findPending(db: Db, memberId: string): Promise<Buffer | undefined> {
  const codes = await findCodes(db, memberId);
  return (!codes?.totp_since && codes?.totp_secret) || undefined;
}

/**
 * Lets one-time codes count, once a first code proves that the app has the secret. Returns the recovery codes, which
 * are never shown again; undefined when the code is wrong.
 */
export async function switchCodesOn(
  tools: CodeTools,
  { memberId, actor }: OwnAccount,
  code: string,
): Promise<string[] | undefined> {
  const sealed = await findPending(tools.db, memberId);
  if (!sealed) throw alreadyOn();
  const secret = tools.secrets.openBytes(totpOwner(memberId), sealed);
  const step = totpStep({ secret, code, at: new Date(), lastStep: null });
  if (step === null) return undefined;
  return await inTransaction(tools.db, async (tx) => {
    if (!(await confirmSecret(tx, { memberId, sealed }, step))) throw alreadyOn();
    const { codes, hashes } = newRecoveryCodes(memberId);
    await replaceRecoveryCodes(tx, memberId, hashes);
    await recordAccountAct(tx, { memberId, actor, act: 'member.codes_on' });
    return codes;
  });
}

/** New recovery codes; those until now no longer work. */
export async function renewRecoveryCodes(
  { db }: Pick<CodeTools, 'db'>,
  { memberId, actor }: OwnAccount,
): Promise<string[]> {
  const found = await findCodes(db, memberId);
  if (!found?.totp_since) throw alreadyOff();
  return await inTransaction(db, async (tx) => {
    const { codes, hashes } = newRecoveryCodes(memberId);
    await replaceRecoveryCodes(tx, memberId, hashes);
    await recordAccountAct(tx, { memberId, actor, act: 'member.codes_renewed' });
    return codes;
  });
}

export async function switchCodesOff(
  { db }: Pick<CodeTools, 'db'>,
  { memberId, actor }: OwnAccount,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    if (!(await clearCodes(tx, memberId))) return;
    await recordAccountAct(tx, { memberId, actor, act: 'member.codes_off' });
  });
}

/** Whether what was typed is the member's second step: a code of the app, or a recovery code. Either works once. */
export async function checkSecondStep(
  { db, secrets }: CodeTools,
  memberId: string,
  typed: string,
): Promise<boolean> {
  if (isRecoveryCode(typed)) {
    return await useRecoveryCode(db, memberId, recoveryCodeHash(memberId, typed));
  }
  const codes = await findCodes(db, memberId);
  if (!codes?.totp_secret || !codes.totp_since) return false;
  const secret = openSecret(secrets, memberId, codes.totp_secret);
  const step = totpStep({ secret, code: typed, at: new Date(), lastStep: codes.totp_step });
  return step !== null && (await useStep(db, memberId, step));
}

/** After a change of the key that left the old one out, recovery codes are what remains. */
function openSecret(secrets: Secrets, memberId: string, sealed: Buffer): Buffer {
  try {
    return secrets.openBytes(totpOwner(memberId), sealed);
  } catch {
    throw new Refusal(
      'unavailable',
      'Codes of your app cannot be checked, because the key of this server was changed. Use a recovery code.',
      { code: 'codes_unreadable' },
    );
  }
}

function newRecoveryCodes(memberId: string) {
  const codes = Array.from({ length: recoveryCodeCount }, () =>
    recoveryCode(randomBytes(recoveryCodeBytes)),
  );
  return { codes, hashes: codes.map((code) => recoveryCodeHash(memberId, code)) };
}

const alreadyOn = () =>
  new Refusal('conflict', 'One-time codes are on already, or were begun in another window.', {
    code: 'codes_on',
  });

const alreadyOff = () => new Refusal('conflict', 'One-time codes are off.', { code: 'codes_off' });

type MemberCodes = {
  /** Sealed; without `totp_since` it waits for its first code. */
  totp_secret: Buffer | null;
  totp_since: Date | null;
  totp_step: number | null;
  /** Recovery codes that have not been used. */
  recovery_codes: number;
};

export async function findCodes(sql: Sql, memberId: string): Promise<MemberCodes | undefined> {
  const [row] = await sql<MemberCodes[]>`
    select totp_secret, totp_since, totp_step::float8 as totp_step,
           (select count(*)::int
            from recovery_codes
            where member_id = m.id and used_at is null) as recovery_codes
    from members m
    where id = ${memberId}`;
  return row;
}

/** Keeps a secret that waits for its first code. Returns whether it was kept: one that counts stays. */
async function savePendingSecret(sql: Sql, memberId: string, sealed: Buffer): Promise<boolean> {
  const { count } = await sql`
    update members
    set totp_secret = ${sealed}, totp_step = null
    where id = ${memberId} and totp_since is null`;
  return count > 0;
}

type PendingSecret = { memberId: string; sealed: Buffer };

/** Lets the pending secret count from now on. Returns whether it was still the pending one. */
export async function confirmSecret(
  sql: Sql,
  { memberId, sealed }: PendingSecret,
  step: number,
): Promise<boolean> {
  const { count } = await sql`
    update members
    set totp_since = now(), totp_step = ${step}
    where id = ${memberId} and totp_since is null and totp_secret = ${sealed}`;
  return count > 0;
}

/** Uses the code of a step. Returns whether neither it nor a later one was used before. */
export async function useStep(sql: Sql, memberId: string, step: number): Promise<boolean> {
  const { count } = await sql`
    update members
    set totp_step = ${step}
    where id = ${memberId} and totp_since is not null and (totp_step is null or totp_step < ${step})`;
  return count > 0;
}

/** Returns whether the code was one of the member's that had not been used. */
async function useRecoveryCode(sql: Sql, memberId: string, hash: Buffer): Promise<boolean> {
  const { count } = await sql`
    update recovery_codes
    set used_at = now()
    where member_id = ${memberId} and code_hash = ${hash} and used_at is null`;
  return count > 0;
}

export async function replaceRecoveryCodes(
  sql: Sql,
  memberId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await deleteRecoveryCodes(sql, memberId);
  const rows = hashes.map((code_hash) => ({ member_id: memberId, code_hash }));
  await sql`insert into recovery_codes ${sql(rows)}`;
}

async function deleteRecoveryCodes(sql: Sql, memberId: string) {
  await sql`delete from recovery_codes where member_id = ${memberId}`;
}

/** Returns whether codes were on. */
export async function clearCodes(sql: Sql, memberId: string): Promise<boolean> {
  await deleteRecoveryCodes(sql, memberId);
  const { count } = await sql`
    update members
    set totp_secret = null, totp_since = null, totp_step = null
    where id = ${memberId} and totp_secret is not null`;
  return count > 0;
}

type SealedTotp = { id: string; totp_secret: Buffer };

const pageSize = 500;

/** Secrets that another key than this one sealed, in the order of their members. */
export async function listTotpOfOtherKey(
  sql: Sql,
  { keyId, after }: { keyId: Buffer; after: string | null },
): Promise<SealedTotp[]> {
  return await sql<SealedTotp[]>`
    select id, totp_secret
    from members
    where totp_secret is not null
      and substring(totp_secret from 1 for ${keyId.length}) <> ${keyId}
      and (${after}::uuid is null or id > ${after}::uuid)
    order by id
    limit ${pageSize}`;
}

/** Unless the member has another secret by now. */
async function replaceTotpSecret(sql: Sql, { id, totp_secret }: SealedTotp, sealed: Buffer) {
  await sql`update members set totp_secret = ${sealed} where id = ${id} and totp_secret = ${totp_secret}`;
}

/** As many as people keep on one sheet. */
const recoveryCodeCount = 10;
/** 80 bits: a plain hash of one cannot be searched for. */
export const recoveryCodeBytes = 10;

/** Four groups of four letters and digits, without those that are mistaken for each other. */
export const recoveryCode = (random: Uint8Array): string =>
  base32(random)
    .toLowerCase()
    .replace(/.{4}(?=.)/g, '$&-');

/** What is kept of a code. Spaces, hyphens and capitals make no difference when it is typed. */
export function recoveryCodeHash(memberId: string, typed: string): Buffer {
  const code = typed.toLowerCase().replace(/[^a-z2-7]/g, '');
  return createHash('sha256').update(`${memberId} ${code}`).digest();
}

/** Whether a typed proof looks like a recovery code; otherwise it is judged as a code of the app. */
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

/** The step whose code was given, which has not been used yet; null if the code is wrong or used. */
export function totpStep({ secret, code, at, lastStep }: TotpProof): number | null {
  const typed = code.replace(/\s/g, '');
  const now = Math.floor(at.getTime() / stepMs);
  const steps = Array.from({ length: 2 * drift + 1 }, (_, index) => now - drift + index);
  return (
    steps.find(
      (step) => (lastStep === null || step > lastStep) && totpCode(secret, step) === typed,
    ) ?? null
  );
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

type TotpAccount = { secret: Uint8Array; email: string; issuer: string };

/** What an authenticator app reads from the QR code. */
export function totpUrl({ secret, email, issuer }: TotpAccount): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  // Some apps show a plus sign as such: URLSearchParams writes spaces as plus signs.
  const query = `secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?${query}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`;
}

/** The secret as one types it where no camera is: in groups of four. */
export const typedSecret = (secret: Uint8Array): string =>
  base32(secret).replace(/.{4}(?=.)/g, '$& ');

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 without padding, which authenticator apps do not expect. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}
