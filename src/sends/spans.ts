import { type Attributes, SpanKind } from '@opentelemetry/api';
import { errorType, type SpanDescription, type SpanEnd } from '../lib/tracing/spans.ts';

/** A mail server; nothing for the built-in mailbox. */
export type MailServer = { host: string; port: number } | null;
type TracedMail = { sendId: string; surveyId: string; attempt: number };

/** One mail on its way to the server, or into the mailbox. */
export const mailSpan = (
  server: MailServer,
  { sendId, surveyId, attempt }: TracedMail,
): SpanDescription => ({
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

export function mailEnd(outcome: string): SpanEnd {
  const failed = outcome !== 'accepted' && outcome !== 'withdrawn';
  const attributes: Attributes = { 'askback.send.outcome': outcome };
  if (failed) attributes[errorType] = outcome;
  return { attributes, failed };
}
