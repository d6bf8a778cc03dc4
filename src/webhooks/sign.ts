import { createHmac, randomBytes } from 'node:crypto';

const secretPrefix = 'whsec_';

export type SignedMessage = {
  id: string;
  messageId: string;
  event: string;
  body: string;
  at: Date;
  secret: string;
  /** For a day after a rotation the old secret signs too, in the header that can hold two signatures. */
  previousSecret: string | null;
  /** The span of the attempt, so that a subscriber can continue the trace. */
  traceparent?: string | null;
};

/** The headers of one attempt: those of this service and those of Standard Webhooks 1.0. */
export function deliveryHeaders(
  serviceName: string,
  signed: SignedMessage,
): Record<string, string> {
  const { id, messageId, event, body, at, secret, previousSecret } = signed;
  const timestamp = Math.floor(at.getTime() / 1000);
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  const signatures = secrets.map((each) => signStandard(each, { id: messageId, timestamp, body }));
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'askback',
    [`X-${serviceName}-Signature`]: signHex(secret, body),
    [`X-${serviceName}-Event`]: event,
    [`X-${serviceName}-Delivery-Id`]: id,
    'webhook-id': messageId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
    ...(signed.traceparent ? { traceparent: signed.traceparent } : {}),
  };
}

/** A webhook's secret, as its owner stores it. */
export const spellSecret = (bytes: Uint8Array) =>
  secretPrefix + Buffer.from(bytes).toString('base64');

const secretBytes = 32;

export const newSecret = () => spellSecret(randomBytes(secretBytes));

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
