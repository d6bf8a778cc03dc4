import { signHex, signStandard } from './sign.ts';

export type Signed = {
  id: string;
  messageId: string;
  event: string;
  body: string;
  at: Date;
  secret: string;
  /** After a rotation the old secret signs too for a while, where a receiver can tell them apart. */
  previousSecret: string | null;
  /** The span of the attempt, for a subscriber that goes on with the trace. */
  traceparent?: string | null;
};

/** The headers of one attempt: service.md's, and beside them those of Standard Webhooks 1.0. */
export function deliveryHeaders(serviceName: string, signed: Signed): Record<string, string> {
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
