import { randomBytes } from 'node:crypto';
import type { Actor } from '../../audit/actor.ts';
import { Refusal } from '../../errors.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import type { Db } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import { recordAccountAct } from '../account-acts.ts';
import {
  clearCodes,
  confirmSecret,
  findCodes,
  replaceRecoveryCodes,
  savePendingSecret,
  useRecoveryCode,
  useStep,
} from './queries.ts';
import {
  isRecoveryCode,
  recoveryCode,
  recoveryCodeBytes,
  recoveryCodeCount,
  recoveryCodeHash,
} from './recovery-code.rules.ts';
import { totpStep } from './totp.rules.ts';

/** As long as the hash it keys: what RFC 4226 recommends. */
const secretBytes = 20;

export type CodeTools = { db: Db; secrets: Secrets };

/** A member who changes an account, which is their own. */
export type OwnAccount = { memberId: string; actor: Actor };

/** Whose secret it is: sealed for one member, it opens for no other. */
export const totpOwner = (memberId: string) => ({ owner: 'member', id: memberId });

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
