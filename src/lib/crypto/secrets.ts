import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** What a secret belongs to: sealed for one record of one organization, it opens for no other. */
export type SealedFor = { orgId: string; id: string };

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

  function seal(owner: SealedFor, text: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, keys[0], nonce).setAAD(ownerBytes(owner));
    const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
    return Buffer.concat([keyId(keys[0]), nonce, sealed, sealing.getAuthTag()]);
  }

  function open(owner: SealedFor, sealed: Uint8Array): string {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const key = byId.get(bytes.subarray(0, keyIdBytes).toString('hex'));
    if (!key) throw new Error('this was sealed with a key that ASKBACK_SECRET_KEY does not have');
    const nonce = bytes.subarray(keyIdBytes, keyIdBytes + nonceBytes);
    const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes })
      .setAAD(ownerBytes(owner))
      .setAuthTag(bytes.subarray(-tagBytes));
    const text = bytes.subarray(keyIdBytes + nonceBytes, -tagBytes);
    return opening.update(text, undefined, 'utf8') + opening.final('utf8');
  }

  return { seal, open, keyId: keyId(keys[0]) };
}

const keyId = (key: Buffer) =>
  createHash('sha256').update('askback key id').update(key).digest().subarray(0, keyIdBytes);

const ownerBytes = ({ orgId, id }: SealedFor) => Buffer.from(`${orgId} ${id}`);
