import { totpCode } from '../../../src/members/codes.ts';

/** The code of an app whose clock is ahead by some steps. */
export const codeOf = (secret: Buffer, ahead = 0) =>
  totpCode(secret, Math.floor(Date.now() / 30_000) + ahead);

/** A code that is wrong now and for some minutes. A fixed one is right for three secrets of a million. */
export function wrongCode(secret: Buffer) {
  const right = new Set(Array.from({ length: 20 }, (_, n) => codeOf(secret, n - 5)));
  const codes = Array.from({ length: 21 }, (_, n) => String(n).padStart(6, '0'));
  return codes.find((code) => !right.has(code))!;
}
