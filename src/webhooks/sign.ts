import { createHmac } from 'node:crypto';

const secretPrefix = 'whsec_';

/** A webhook's secret, as its owner stores it. */
export const spellSecret = (bytes: Uint8Array) =>
  secretPrefix + Buffer.from(bytes).toString('base64');

/** Lowercase hex HMAC-SHA256 over exactly the bytes that are sent, keyed with the whole secret string. */
export const signHex = (secret: string, body: string) =>
  createHmac('sha256', secret).update(body).digest('hex');

/** A signature of Standard Webhooks 1.0, keyed with the bytes that the secret spells. */
export function signStandard(
  secret: string,
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return `v1,${digest}`;
}
