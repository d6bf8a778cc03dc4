import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Refusal, unavailable } from '../../errors.ts';

/** The record that owns a sealed secret. The secret cannot be opened for another record. */
export type SealedFor = { owner: string; id: string };

export type Secrets = ReturnType<typeof createSecrets>;

const cipher = 'aes-256-gcm';
const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts secrets that must be readable later. Only the first key seals, but all keys open. A sealed secret consists
 * of the key's id, a nonce, the ciphertext, and a tag that authenticates the text and the record.
 */
export function createSecrets(keys: readonly [Buffer, ...Buffer[]]) {
  const byId = new Map(keys.map((key) => [keyId(key).toString('hex'), key]));

  function seal(place: SealedFor, secret: string | Uint8Array): Buffer {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, keys[0], nonce).setAAD(placeBytes(place));
    const sealed = Buffer.concat([sealing.update(Buffer.from(secret)), sealing.final()]);
    return Buffer.concat([keyId(keys[0]), nonce, sealed, sealing.getAuthTag()]);
  }

  function openBytes(place: SealedFor, sealed: Uint8Array): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const key = byId.get(bytes.subarray(0, keyIdBytes).toString('hex'));
    if (!key) throw new Error('this was sealed with a key that is not configured');
    const nonce = bytes.subarray(keyIdBytes, keyIdBytes + nonceBytes);
    const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes })
      .setAAD(placeBytes(place))
      .setAuthTag(bytes.subarray(-tagBytes));
    const secret = bytes.subarray(keyIdBytes + nonceBytes, -tagBytes);
    return Buffer.concat([opening.update(secret), opening.final()]);
  }

  const open = (place: SealedFor, sealed: Uint8Array): string =>
    openBytes(place, sealed).toString('utf8');

  return { seal, open, openBytes, keyId: keyId(keys[0]) };
}

const keyId = (key: Buffer) =>
  createHash('sha256').update('id of a sealing key').update(key).digest().subarray(0, keyIdBytes);

const placeBytes = ({ owner, id }: SealedFor) => Buffer.from(`${owner} ${id}`);

const fileName = 'secret.key';
const keyBytes = 32;

/** Creates the key in the data directory on first use. Processes that start at the same time get the same key. */
export function getOrCreateSecretKey(dataDir: string): Buffer {
  const existing = readSecretKey(dataDir);
  if (existing) return existing;
  const draft = `${fileName}.${randomBytes(6).toString('hex')}`;
  try {
    writeKey(dataDir, draft, randomBytes(keyBytes));
    linkSync(join(dataDir, draft), join(dataDir, fileName));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(join(dataDir, draft), { force: true });
  }
  const key = readSecretKey(dataDir);
  if (!key) throw unavailable(`${fileName} disappeared from ${dataDir}`);
  return key;
}

/** A damaged key is an error, never replaced. */
export function readSecretKey(dataDir: string): Buffer | undefined {
  const path = join(dataDir, fileName);
  try {
    const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
    if (key.length === keyBytes) return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  throw unavailable(`${path} is damaged: it must be base64 of ${keyBytes} bytes`);
}

const { O_CREAT, O_EXCL, O_SYNC, O_WRONLY } = constants;

/** Uses O_SYNC, so that a power cut cannot leave half a key. Node's permission model forbids fsync. */
function writeKey(dataDir: string, name: string, key: Buffer) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = openSync(join(dataDir, name), O_WRONLY | O_CREAT | O_EXCL | O_SYNC, 0o600);
  try {
    writeSync(file, `${key.toString('base64')}\n`);
  } finally {
    closeSync(file);
  }
}

export function saveRestoredKey(dataDir: string, key: Buffer) {
  rejectOtherKey(dataDir, key);
  if (!readSecretKey(dataDir)) writeKey(dataDir, fileName, key);
}

export function rejectOtherKey(dataDir: string, key: Buffer) {
  if (readSecretKey(dataDir)?.equals(key) ?? true) return;
  throw new Refusal(
    'conflict',
    `${join(dataDir, fileName)} differs from the key in the backup: restore into an empty data directory`,
  );
}

/** Constant-time comparison. */
export const constantTimeEqual = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

const digest = (text: string) => createHash('sha256').update(text).digest();
