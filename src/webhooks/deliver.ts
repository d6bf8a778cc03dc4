import { createHmac, randomBytes } from 'node:crypto';
import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Outbound, OutboundAnswer } from '../lib/outbound/post.ts';
import { errorType, inSpan, type SpanDescription, type SpanEnd } from '../lib/tracing/spans.ts';
import type { Delivery } from './delivery.queries.ts';
import type { WebhookTarget } from './queries.ts';
import { answerTimeoutMs, judge, type Verdict } from './rules.ts';

export type SubscriberClient = Pick<Outbound, 'post'>;

export type DeliverTools = {
  outbound: SubscriberClient;
  secrets: Secrets;
  settings: { serviceName: string };
};

export type AttemptOutcome = {
  delivery: Delivery;
  answer: OutboundAnswer;
  verdict: Verdict;
  at: Date;
  traceparent: string | null;
};

/** Never throws because of the subscriber: every answer is an outcome. */
export async function attempt(
  { outbound, secrets, settings }: DeliverTools,
  delivery: Delivery,
  target: WebhookTarget,
): Promise<AttemptOutcome> {
  const { org_id, webhook_id, event, body, attempts } = delivery;
  const { url, retries, secret, previous_secret, previous_secret_until } = target;
  const open = (sealed: Uint8Array) => secrets.open({ owner: org_id, id: webhook_id }, sealed);
  const agoMs = Date.now() - delivery.created_at.getTime();
  return await inSpan(
    { traceparent: delivery.traceparent, agoMs },
    () => attemptSpan(delivery, url),
    async ({ traceparent, ended }) => {
      const at = new Date();
      const headers = deliveryHeaders(settings.serviceName, {
        ...delivery,
        at,
        secret: open(secret),
        previousSecret:
          previous_secret && previous_secret_until! > at ? open(previous_secret) : null,
        traceparent,
      });
      const answer = hideResolution(
        await outbound.post(url, {
          group: org_id,
          line: webhook_id,
          headers,
          body,
          deadlineMs: answerTimeoutMs,
        }),
      );
      const judged = { ...answer, event, number: attempts + 1 };
      const verdict = judge(judged, { retries, random: Math.random() });
      ended(() => attemptEnd(answer, verdict));
      return { delivery, answer, verdict, at, traceparent };
    },
  );
}

/** Hides whether a name resolves, so that webhooks cannot probe the operator's network. */
const hideResolution = (answer: OutboundAnswer): OutboundAnswer =>
  answer.errorKind === 'dns' || answer.errorKind === 'forbidden'
    ? { ...answer, error: 'the url does not point to an allowed address', durationMs: 0 }
    : answer;

export const bodyOf = ({ statusCode, body }: OutboundAnswer) => (statusCode === null ? null : body);

/** No connection was free, or this process cancelled the attempt. */
export const isOurFault = ({ errorKind }: OutboundAnswer) =>
  errorKind === 'busy' || errorKind === 'cancelled';

export function toSignal(outcome: AttemptOutcome) {
  const { delivery, answer, verdict } = outcome;
  return {
    orgId: delivery.org_id,
    deliveryId: delivery.id,
    webhookId: delivery.webhook_id,
    event: delivery.event,
    attempt: delivery.attempts + 1,
    outcome: verdict.status === 'pending' ? ('retry' as const) : verdict.status,
    statusCode: answer.statusCode,
    error: answer.errorKind,
    ms: answer.durationMs,
    sinceMs: Math.max(Date.now() - delivery.created_at.getTime(), 0),
    traceparent: outcome.traceparent,
  };
}

const secretPrefix = 'whsec_';

type SignedMessage = Pick<Delivery, 'id' | 'message_id' | 'event' | 'body'> & {
  at: Date;
  secret: string;
  /** Also signs for a day after a rotation. Only `webhook-signature` can hold two signatures. */
  previousSecret: string | null;
  traceparent?: string | null;
};

export function deliveryHeaders(
  serviceName: string,
  signed: SignedMessage,
): Record<string, string> {
  const { id, message_id, event, body, at, secret, previousSecret } = signed;
  const timestamp = Math.floor(at.getTime() / 1000);
  const standard = `${message_id}.${timestamp}.${body}`;
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'askback',
    [`X-${serviceName}-Signature`]: signHex(secret, body),
    [`X-${serviceName}-Event`]: event,
    [`X-${serviceName}-Delivery-Id`]: id,
    'webhook-id': message_id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((each) => signStandard(each, standard)).join(' '),
    ...(signed.traceparent ? { traceparent: signed.traceparent } : {}),
  };
}

export const spellSecret = (bytes: Uint8Array) =>
  secretPrefix + Buffer.from(bytes).toString('base64');

export const newSecret = () => spellSecret(randomBytes(32));

/** Keyed with the whole secret string, including its prefix. */
export const signHex = (secret: string, body: string) =>
  createHmac('sha256', secret).update(body).digest('hex');

/** Standard Webhooks 1.0: keyed with the decoded secret. */
function signStandard(secret: string, message: string): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  return `v1,${createHmac('sha256', key).update(message).digest('base64')}`;
}

/** Redacts the path of the URL, which may contain a secret. */
function attemptSpan({ id, webhook_id, event, attempts }: Delivery, url: string): SpanDescription {
  const target = URL.parse(url);
  const usualPort = target?.protocol === 'http:' ? 80 : 443;
  const attributes: Attributes = {
    'http.request.method': 'POST',
    'url.full': `${target?.origin}/REDACTED`,
    'server.address': target?.hostname,
    'server.port': Number(target?.port) || usualPort,
    'askback.webhook.id': webhook_id,
    'askback.delivery.id': id,
    'askback.delivery.attempt': attempts + 1,
    'askback.event.type': event,
  };
  if (attempts > 0) attributes['http.request.resend_count'] = attempts;
  return { name: 'POST', kind: SpanKind.CLIENT, attributes };
}

function attemptEnd({ statusCode, errorKind }: OutboundAnswer, { status }: Verdict): SpanEnd {
  const failed = status !== 'delivered';
  const attributes: Attributes = {};
  if (statusCode !== null) attributes['http.response.status_code'] = statusCode;
  if (failed) attributes[errorType] = errorKind ?? String(statusCode);
  return { attributes, failed };
}
