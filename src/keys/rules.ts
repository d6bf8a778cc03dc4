import { hash as hashOf } from 'node:crypto';
import { crc32 } from 'node:zlib';

const prefix = 'ask_live_';
const form = /^ask_live_([0-9A-Za-z]{8})_([A-Za-z0-9_-]{43})([0-9A-Za-z]{6})$/;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type KeyParts = { publicId: string; secretHash: Buffer };

/** Formats random bytes as a key: a public id, a secret, and a checksum against typing errors. */
export function formatKey(idBytes: Uint8Array, secretBytes: Uint8Array) {
  const publicId = [...idBytes].map((byte) => digits[byte % digits.length]).join('');
  const secret = Buffer.from(secretBytes).toString('base64url');
  const body = `${prefix}${publicId}_${secret}`;
  return { key: body + checksum(body), publicId, secretHash: hash(secret) };
}

/** Returns the parts of a well-formed key. Anything else never reaches the database. */
export function parseKey(key: string): KeyParts | undefined {
  const [, publicId, secret, sum] = form.exec(key) ?? [];
  if (!publicId || !secret || sum !== checksum(key.slice(0, -6))) return undefined;
  return { publicId, secretHash: hash(secret) };
}

const hash = (secret: string): Buffer => hashOf('sha256', secret, 'buffer');

function checksum(text: string): string {
  let rest = crc32(text);
  let sum = '';
  for (let digit = 0; digit < 6; digit++) {
    sum = digits[rest % digits.length] + sum;
    rest = Math.floor(rest / digits.length);
  }
  return sum;
}

/** Requests without a working key, per client address and minute. */
export const unknownKeyLimit = 60;

type Counted = { rateLimit: number; used: number; resets_in_seconds: number };

/** Rate-limit headers for the key, or for the client address if the key is unknown. */
export function rateHeaders(isKnown: boolean, { rateLimit, used, resets_in_seconds }: Counted) {
  const keyPolicy = `"default";q=${rateLimit};w=60`;
  const left = (quota: number) => `r=${Math.max(0, quota - used)};t=${resets_in_seconds}`;
  if (isKnown) return { 'RateLimit-Policy': keyPolicy, RateLimit: `"default";${left(rateLimit)}` };
  return {
    'RateLimit-Policy': `${keyPolicy}, "address";q=${unknownKeyLimit};w=60`,
    RateLimit: `"address";${left(unknownKeyLimit)}`,
  };
}

export const expiryChoices = ['30d', '90d', '365d', 'never'] as const;

const dayMs = 86_400_000;

export function expiryOf(choice: (typeof expiryChoices)[number], now: Date): Date | null {
  return choice === 'never' ? null : new Date(now.getTime() + Number.parseInt(choice, 10) * dayMs);
}
