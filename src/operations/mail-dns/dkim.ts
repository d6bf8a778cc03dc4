import { createPrivateKey, createPublicKey } from 'node:crypto';
import { type DnsRecord, type Finding, finding } from '../finding.ts';
import type { Resolver } from './resolver.ts';

const goodBits = 2048;

/** Nothing is signed here. A mail server that signs cannot be seen. */
export const unsigned = () =>
  finding(
    'DKIM',
    'warn',
    'askback signs nothing: unless your mail server signs, make a key by `openssl genrsa -out dkim.pem 2048`, set ASKBACK_DKIM_DOMAIN, ASKBACK_DKIM_SELECTOR and ASKBACK_DKIM_KEY_FILE, and ask again for the record to add',
  );

/** Compares the key in DNS under a name (RFC 6376) with the private key that mails are signed with. */
export async function examineDkim(dns: Resolver, at: string, pem: string): Promise<Finding> {
  const name = `DKIM ${at}`;
  const wanted = (action: DnsRecord['action']): DnsRecord[] => [
    { action, name: at, type: 'TXT', value: dkimRecordFor(pem) },
  ];
  const answer = await dns('TXT', at);
  if (answer.kind === 'failed') return finding(name, 'fail', `cannot be looked up: ${answer.why}`);
  if (answer.kind !== 'found') {
    const message = 'DNS has no such record: the signatures of your mails cannot be checked';
    return finding(name, 'fail', message, wanted('add'));
  }
  if (answer.records.length > 1) {
    const message = `there are ${answer.records.length} records, and receivers pick any: leave one of them`;
    return finding(name, 'fail', message, wanted('change'));
  }
  const { status, message } = await judgeKey(answer.records[0]!, pem);
  return finding(name, status, message, status === 'ok' ? [] : wanted('change'));
}

async function judgeKey(text: string, pem: string): Promise<Pick<Finding, 'status' | 'message'>> {
  if (/(^|;)\s*p\s*=\s*(;|$)/.test(text)) {
    return { status: 'fail', message: 'the record says that this key was withdrawn (p= is empty)' };
  }
  const { getPublicKey } = await import('mailauth/lib/tools.js');
  const options = { strict: true, hashAlgo: 'sha256' };
  try {
    const published = await getPublicKey('DKIM', 'key', 1, async () => [text], options);
    if (!createPublicKey(published.publicKey).equals(createPublicKey(createPrivateKey(pem)))) {
      const message = 'the record holds another key than the one mails are signed with';
      return { status: 'fail', message };
    }
    if (published.testing) {
      const message = 'the record says t=y, testing: receivers treat your mails as unsigned';
      return { status: 'warn', message };
    }
    const good = `the public key is there, RSA ${published.modulusLength} bits`;
    if (published.modulusLength >= goodBits) return { status: 'ok', message: good };
    return { status: 'warn', message: `${good}: make one of ${goodBits}, under a new selector` };
  } catch (error) {
    return { status: 'fail', message: `the record is wrong: ${(error as Error).message}` };
  }
}

/** The record that belongs to a private key. */
export const dkimRecordFor = (pem: string) =>
  `v=DKIM1; k=rsa; p=${createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' }).toString('base64')}`;
