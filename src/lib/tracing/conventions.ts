import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { Description, End } from './spans.ts';

/**
 * The names of spans and of what they say, in one place: OpenTelemetry's semantic conventions for HTTP
 * and messaging, and `askback.*` for what only we have. No span has an address, a name, a comment or a
 * token: paths are routes, queries and what others answered are left out.
 */

export const errorType = 'error.type';

const methods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

type Request = { method: string; route: string | null; path: string };

/** A request that we answer. */
export function requestSpan({ method: given, route, path }: Request): Description {
  const method = methods.has(given) ? given : '_OTHER';
  const name = method === '_OTHER' ? 'HTTP' : method;
  return {
    name: route === null ? name : `${name} ${route}`,
    kind: SpanKind.SERVER,
    attributes: {
      'http.request.method': method,
      'url.scheme': 'http',
      'url.path': path,
      ...(route === null ? {} : { 'http.route': route }),
    },
  };
}

/** A refusal is an answer like others; only a fault is our failure. */
export function requestEnd({ status, orgId }: { status: number; orgId: string | null }): End {
  const failed = status >= 500;
  const attributes: Attributes = { 'http.response.status_code': status };
  if (orgId !== null) attributes['askback.organization.id'] = orgId;
  if (failed) attributes[errorType] = String(status);
  return { attributes, failed };
}

const queue = { 'messaging.system': 'graphile_worker' };

/** What leads to a job: the transaction that writes it, with all that is written in it. */
export const enqueueSpan = (task: string): Description => ({
  name: `send ${task}`,
  kind: SpanKind.PRODUCER,
  attributes: {
    ...queue,
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': task,
  },
});

/** The run of a job. */
export const jobSpan = (job: { task: string; id: string; attempt: number }): Description => ({
  name: `process ${job.task}`,
  kind: SpanKind.CONSUMER,
  attributes: {
    ...queue,
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': job.task,
    'messaging.message.id': job.id,
    'askback.job.attempt': job.attempt,
  },
});

type Attempt = { deliveryId: string; webhookId: string; event: string; attempt: number };

/** One attempt at a delivery. Of the subscriber's address only the host: the rest may be a secret. */
export function attemptSpan(url: string, told: Attempt): Description {
  const target = URL.parse(url);
  const usualPort = target?.protocol === 'http:' ? 80 : 443;
  const attributes: Attributes = {
    'http.request.method': 'POST',
    'url.full': `${target?.origin}/REDACTED`,
    'server.address': target?.hostname,
    'server.port': Number(target?.port) || usualPort,
    'askback.webhook.id': told.webhookId,
    'askback.delivery.id': told.deliveryId,
    'askback.delivery.attempt': told.attempt,
    'askback.event.type': told.event,
  };
  if (told.attempt > 1) attributes['http.request.resend_count'] = told.attempt - 1;
  return { name: 'POST', kind: SpanKind.CLIENT, attributes };
}

type Answered = { statusCode: number | null; errorKind: string | null; delivered: boolean };

export function attemptEnd({ statusCode, errorKind, delivered }: Answered): End {
  const attributes: Attributes = {};
  if (statusCode !== null) attributes['http.response.status_code'] = statusCode;
  if (!delivered) attributes[errorType] = errorKind ?? String(statusCode);
  return { attributes, failed: !delivered };
}

/** A mail server; nothing for the built-in mailbox. */
export type MailServer = { host: string; port: number } | null;
type Mail = { sendId: string; surveyId: string; attempt: number };

/** One mail's way to the server, or into the mailbox. */
export const mailSpan = (server: MailServer, { sendId, surveyId, attempt }: Mail): Description => ({
  name: 'send mail',
  kind: SpanKind.CLIENT,
  attributes: {
    ...(server ? { 'server.address': server.host, 'server.port': server.port } : {}),
    ...(server ? { 'network.protocol.name': 'smtp' } : {}),
    'askback.survey.id': surveyId,
    'askback.send.id': sendId,
    'askback.send.attempt': attempt,
  },
});

export function mailEnd(outcome: string): End {
  const failed = outcome !== 'accepted' && outcome !== 'withdrawn';
  const attributes: Attributes = { 'askback.send.outcome': outcome };
  if (failed) attributes[errorType] = outcome;
  return { attributes, failed };
}
