import { type Attributes, SpanKind } from '@opentelemetry/api';
import { errorType, type SpanDescription, type SpanEnd } from '../lib/tracing/spans.ts';

type TracedAttempt = { deliveryId: string; webhookId: string; event: string; attempt: number };

/** One attempt at a delivery. Only the host of the subscriber's address: the rest may be a secret. */
export function attemptSpan(url: string, traced: TracedAttempt): SpanDescription {
  const target = URL.parse(url);
  const usualPort = target?.protocol === 'http:' ? 80 : 443;
  const attributes: Attributes = {
    'http.request.method': 'POST',
    'url.full': `${target?.origin}/REDACTED`,
    'server.address': target?.hostname,
    'server.port': Number(target?.port) || usualPort,
    'askback.webhook.id': traced.webhookId,
    'askback.delivery.id': traced.deliveryId,
    'askback.delivery.attempt': traced.attempt,
    'askback.event.type': traced.event,
  };
  if (traced.attempt > 1) attributes['http.request.resend_count'] = traced.attempt - 1;
  return { name: 'POST', kind: SpanKind.CLIENT, attributes };
}

type AttemptResult = { statusCode: number | null; errorKind: string | null; delivered: boolean };

export function attemptEnd({ statusCode, errorKind, delivered }: AttemptResult): SpanEnd {
  const attributes: Attributes = {};
  if (statusCode !== null) attributes['http.response.status_code'] = statusCode;
  if (!delivered) attributes[errorType] = errorKind ?? String(statusCode);
  return { attributes, failed: !delivered };
}
