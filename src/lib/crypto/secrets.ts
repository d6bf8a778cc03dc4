// Secrets at rest: a key per deployment, and values sealed for one record of one owner.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** What a secret belongs to: sealed for one record of one owner, it opens for no other. */
export type SealedFor = { owner: string; id: string };

export type Secrets = ReturnType<typeof createSecrets>;

const cipher = 'aes-256-gcm';
const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals what must be kept recoverable. The first key seals; those after it only open what they sealed
 * before a rotation. A sealed secret is: the key's id, a nonce, the text, a tag over text and owner.
 */
export function createSecrets(keys: readonly [Buffer, ...Buffer[]]) {
  const byId = new Map(keys.map((key) => [keyId(key).toString('hex'), key]));

  function seal(place: SealedFor, secret: string | Uint8Array): Buffer {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, keys[0], nonce).setAAD(placeBytes(place));
    const sealed = Buffer.concat([sealing.update(toBytes(secret)), sealing.final()]);
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

const toBytes = (secret: string | Uint8Array) =>
  typeof secret === 'string' ? Buffer.from(secret) : secret;

const placeBytes = ({ owner, id }: SealedFor) => Buffer.from(`${owner} ${id}`);
