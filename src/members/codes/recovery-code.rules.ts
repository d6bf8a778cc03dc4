import { createHash } from 'node:crypto';
import { base32 } from './totp.rules.ts';

/** As many as people keep on one sheet. */
export const recoveryCodeCount = 10;
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
