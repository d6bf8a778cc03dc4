import { hash as hashOf } from 'node:crypto';
import { crc32 } from 'node:zlib';

const prefix = 'ask_live_';
const form = /^ask_live_([0-9A-Za-z]{8})_([A-Za-z0-9_-]{43})([0-9A-Za-z]{6})$/;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type KeyParts = { publicId: string; secretHash: Buffer };

/** Spells a key out of random bytes: an id to find it by, a secret, and a checksum against typing errors. */
export function spellKey(idBytes: Uint8Array, secretBytes: Uint8Array): { key: string } & KeyParts {
  const publicId = [...idBytes].map((byte) => digits[byte % digits.length]).join('');
  const secret = Buffer.from(secretBytes).toString('base64url');
  const body = `${prefix}${publicId}_${secret}`;
  return { key: body + checksum(body), publicId, secretHash: hash(secret) };
}

/** The parts of a key that is well formed: what cannot be a key never reaches the database. */
export function readKey(key: string): KeyParts | undefined {
  const [, publicId, secret, sum] = form.exec(key) ?? [];
  if (!publicId || !secret || sum !== checksum(key.slice(0, -6))) return undefined;
  return { publicId, secretHash: hash(secret) };
}

const hash = (secret: string): Buffer => hashOf('sha256', secret, 'buffer');

function checksum(text: string): string {
  let rest = crc32(text);
  let spelled = '';
  for (let place = 0; place < 6; place++) {
    spelled = digits[rest % digits.length] + spelled;
    rest = Math.floor(rest / digits.length);
  }
  return spelled;
}

/** Requests without a working key, a minute and address. */
export const unknownKeyLimit = 60;

type Counted = { rateLimit: number; used: number; resets_in_seconds: number };

/** Headers for the minute of the key, or of the address for all that carry no working key. */
export function rateHeaders(known: boolean, { rateLimit, used, resets_in_seconds }: Counted) {
  const ofKey = `"default";q=${rateLimit};w=60`;
  const left = (quota: number) => `r=${Math.max(0, quota - used)};t=${resets_in_seconds}`;
  if (known) return { 'RateLimit-Policy': ofKey, RateLimit: `"default";${left(rateLimit)}` };
  return {
    'RateLimit-Policy': `${ofKey}, "address";q=${unknownKeyLimit};w=60`,
    RateLimit: `"address";${left(unknownKeyLimit)}`,
  };
}

export const expiryChoices = ['30d', '90d', '365d', 'never'] as const;

const dayMs = 86_400_000;
const nearDays = 14;

export function expiryOf(choice: (typeof expiryChoices)[number], now: Date): Date | null {
  return choice === 'never' ? null : new Date(now.getTime() + Number.parseInt(choice, 10) * dayMs);
}

export function expiryState(expiresAt: Date, now: Date): 'over' | 'near' | 'far' {
  const left = expiresAt.getTime() - now.getTime();
  if (left <= 0) return 'over';
  return left < nearDays * dayMs ? 'near' : 'far';
}
