import { createHmac } from 'node:crypto';

// One-time codes as every authenticator app makes them: RFC 6238 with SHA-1, six digits, 30 seconds.

const stepMs = 30_000;
const digits = 6;
/** A clock may be this many steps off, in either direction. */
const drift = 1;

export type TotpProof = {
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

export type TotpAccount = { secret: Uint8Array; email: string; issuer: string };

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
