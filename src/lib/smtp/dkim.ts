import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';

type DkimSettings = { domain: string; selector: string; key: string };

export type DkimSigner = (message: Buffer) => Promise<Buffer>;

const minBits = 1024;

/** Mail providers support one-click unsubscribe only if its headers are signed (RFC 8058). */
const signedHeaders = [
  'from',
  'reply-to',
  'to',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'auto-submitted',
  'feedback-id',
];

const signInPool = promisify<string, Buffer, KeyObject, Buffer>(sign);

export function createDkimSigner(settings: DkimSettings): DkimSigner | string {
  const key = readKey(settings.key);
  if (typeof key === 'string') return key;
  return async (message) => {
    const unsigned = signatureHeader(settings, message);
    const data = `${canonicalHeaders(message)}${relaxed(unsigned)}`;
    const signature = await signInPool('sha256', Buffer.from(data, 'latin1'), key);
    const folded = signature.toString('base64').replace(/.{72}(?=.)/g, '$&\r\n ');
    return Buffer.concat([Buffer.from(`${unsigned}${folded}\r\n`, 'latin1'), message]);
  };
}

function readKey(pem: string): KeyObject | string {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    return 'the DKIM key is not a private key in PEM form';
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== 'rsa') {
    return `the DKIM key is ${key.asymmetricKeyType ?? 'of an unknown kind'}; it must be RSA, since many receivers verify nothing else`;
  }
  return bits >= minBits ? key : `the DKIM key has ${bits} bits, fewer than ${minBits}`;
}

function signatureHeader({ domain, selector }: DkimSettings, message: Buffer): string {
  const bodyHash = createHash('sha256')
    .update(relaxedBody(bodyOf(message)), 'latin1')
    .digest('base64');
  const names = fieldsOf(message).map(({ name }) => name);
  // Listing From twice makes a second From header break the signature.
  const headers = ['from', ...signedHeaders.filter((name) => names.includes(name))];
  return [
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;',
    ` d=${domain}; s=${selector};`,
    ` h=${headers.join(':\r\n  ')};`,
    ` bh=${bodyHash};`,
    ' b=',
  ].join('\r\n');
}

function canonicalHeaders(message: Buffer): string {
  const fields = fieldsOf(message);
  return signedHeaders
    .map((name) => fields.findLast((field) => field.name === name))
    .map((field) => (field ? `${relaxed(field.line)}\r\n` : ''))
    .join('');
}

function fieldsOf(message: Buffer) {
  const head = message.toString('latin1', 0, message.indexOf('\r\n\r\n'));
  return head
    .split(/\r\n(?![ \t])/)
    .map((line) => ({ name: line.slice(0, line.indexOf(':')).toLowerCase(), line }));
}

const bodyOf = (message: Buffer) => message.toString('latin1', message.indexOf('\r\n\r\n') + 4);

/** RFC 6376, 3.4.2. */
function relaxed(line: string): string {
  const colon = line.indexOf(':');
  const value = line
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${line.slice(0, colon).trim().toLowerCase()}:${value}`;
}

/** RFC 6376, 3.4.4. */
function relaxedBody(body: string): string {
  const trimmed = body
    .replace(/[ \t]+/g, ' ')
    .replace(/ (?=\r\n)/g, '')
    .replace(/ ?(\r\n)*$/, '');
  return trimmed === '' ? '' : `${trimmed}\r\n`;
}
