import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readTags } from './tag-list.ts';

export type DkimRecord = {
  /** Null when the key was withdrawn. */
  key: KeyObject | null;
  testing: boolean;
  mistakes: string[];
};

/** Reads the public half of a DKIM key as DNS has it (RFC 6376, 3.6.1), for mails signed by RSA and SHA-256. */
export function readDkim(text: string): DkimRecord {
  const { tags, mistakes } = readTags(text);
  const p = tags.get('p')?.replace(/\s/g, '');
  const key = p ? publicKeyOf(p) : null;
  if (p === undefined) mistakes.push('p= is missing');
  if (p && !key) mistakes.push('p= holds no RSA public key');
  if ((tags.get('v') ?? 'DKIM1') !== 'DKIM1') mistakes.push('v= must be DKIM1');
  if ((tags.get('k') ?? 'rsa').toLowerCase() !== 'rsa') mistakes.push('k= must be rsa');
  if (!listed(tags.get('h'), 'sha256')) mistakes.push('h= leaves out sha256');
  if (!listed(tags.get('s'), '*') && !listed(tags.get('s'), 'email')) {
    mistakes.push('s= leaves out email');
  }
  return { key, testing: tags.has('t') && listed(tags.get('t'), 'y'), mistakes };
}

/** A list with colons between its words. One that is not given names everything. */
const listed = (list: string | undefined, word: string) =>
  list === undefined || list.split(':').some((each) => each.trim().toLowerCase() === word);

/** Usually a whole SubjectPublicKeyInfo; some publish the RSA key inside it alone. */
function publicKeyOf(base64: string): KeyObject | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  const key = Buffer.from(base64, 'base64');
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      const read = createPublicKey({ key, format: 'der', type });
      if (read.asymmetricKeyType === 'rsa') return read;
    } catch {
      // then it is of the other form, or of none
    }
  }
  return null;
}

/** A record of DNS, compared with the private key that mails are signed with. */
export function compareDkim(text: string, pem: string): PublishedDkim {
  const { key, testing, mistakes } = readDkim(text);
  const isOurs = key !== null && createPublicKey(createPrivateKey(pem)).equals(key);
  return { testing, mistakes, isOurs, bits: key?.asymmetricKeyDetails?.modulusLength ?? null };
}

export type PublishedDkim = Omit<DkimRecord, 'key'> & {
  isOurs: boolean;
  /** Null when the key was withdrawn. */
  bits: number | null;
};

/** The record that belongs to a private key. */
export const dkimRecordFor = (pem: string) =>
  `v=DKIM1; k=rsa; p=${createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' }).toString('base64')}`;
